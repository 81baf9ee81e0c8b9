//go:build !unix

package gozer

import (
	"context"
	"os"
)

func handOverSignals() chan os.Signal { return nil }

// handOverOnSignal does nothing: there is no SIGUSR2, and sockets are not passed on.
func (g *Gateway) handOverOnSignal(context.Context, chan os.Signal) {}
