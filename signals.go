package gozer

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signals are those by which an operator asks a serving process for something. They are
// heard before anything else is done and until the last request has been answered, for the
// system ends a process that has not said what it does about one.
type signals struct{ reload, handOver chan os.Signal }

func hearSignals() signals {
	s := signals{make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(s.reload, syscall.SIGHUP)
	if asks := handOverSignal(); asks != nil {
		signal.Notify(s.handOver, asks)
	}
	return s
}

func (s signals) stop() {
	signal.Stop(s.reload)
	signal.Stop(s.handOver)
}

// onReload calls f at every SIGHUP until ctx ends, and lets the service manager know.
func (g *Gateway) onReload(ctx context.Context, s signals, f func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.reload:
			g.notify("RELOADING=1")
			f()
			g.notify("READY=1")
		}
	}
}

// onHandOver hands over at every SIGUSR2 until ctx ends.
func (g *Gateway) onHandOver(ctx context.Context, s signals) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.handOver:
			g.handOverFor(ctx, "SIGUSR2")
		}
	}
}
