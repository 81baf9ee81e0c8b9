//go:build unix

package gozer

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// handOverSignals are heard from now on: one that comes early is not lost.
func handOverSignals() chan os.Signal {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	return asked
}

// handOverOnSignal hands over at every signal until ctx ends.
func (g *Gateway) handOverOnSignal(ctx context.Context, asked chan os.Signal) {
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
