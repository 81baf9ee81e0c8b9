//go:build !unix

package gozer

import "context"

// handOverOnSignal does nothing: there is no SIGUSR2, and sockets are not passed on.
func (g *Gateway) handOverOnSignal(context.Context) {}
