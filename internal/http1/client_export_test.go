package http1

import (
	"context"
	"net"
)

// InterruptibleContext stands for the context of a server's request, with what
// the server does when the client has gone.
func InterruptibleContext(parent context.Context) (ctx context.Context, gone func()) {
	parent, cancel := context.WithCancel(parent)
	c := &interruptibleContext{Context: parent}
	return c, func() {
		cancel()
		c.interrupter.interrupt()
	}
}

type interruptibleContext struct {
	context.Context //nolint:containedctx // this is a context: it has a parent
	interrupter     Interrupter
}

func (*interruptibleContext) Interruptible() bool { return true }

func (c *interruptibleContext) Value(key any) any {
	if key == interrupterKey {
		return &c.interrupter
	}
	return c.Context.Value(key)
}

// WithInterim makes relay get interim responses.
func WithInterim(ctx context.Context, relay any) context.Context {
	return context.WithValue(ctx, interimKey, relay)
}

// Movable and Move are what the server's side uses of a Body.
func (b *Body) Movable() (int64, bool) { return b.movable() }

func (b *Body) Move(dst *net.TCPConn, limit int64) (n int64, readErr, writeErr error) {
	return b.move(dst, limit)
}
