package lb_test

import (
	"context"
	"testing"

	"github.com/gozer-gateway/gozer/lb"
)

// run runs a balancer until the test ends.
func run(tb testing.TB, b *lb.Balancer) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	tb.Cleanup(stop)
	return stop
}
