package http1_test

import (
	"context"
	"testing"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// promising is a context that ends by its interrupter alone, as those of requests do.
type promising struct{ context.Context } //nolint:containedctx // this is a context: it has a parent

func (promising) Interruptible() bool { return true }

func TestApart(t *testing.T) {
	type key struct{}
	parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
	ctx := http1.Apart(promising{parent})
	if got := ctx.Value(key{}); got != "kept" {
		t.Errorf("value is %v", got)
	}
	if _, promises := ctx.(interface{ Interruptible() bool }); promises {
		t.Error("it promises to end by the client's connection alone")
	}
	cancel()
	if <-ctx.Done(); ctx.Err() == nil {
		t.Error("it does not end with its parent")
	}
}
