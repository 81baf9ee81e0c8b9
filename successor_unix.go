//go:build unix

package gozer

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// handOverOnSignal hands over at every SIGUSR2 until ctx ends.
func (g *Gateway) handOverOnSignal(ctx context.Context) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	defer signal.Stop(asked)
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			g.handOverFor(ctx, "SIGUSR2")
		}
	}
}
