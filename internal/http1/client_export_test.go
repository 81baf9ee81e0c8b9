package http1

import (
	"context"
	"net"
	"net/http"
	"time"
)

// InterruptibleContext stands for the context of a server's request, with what
// the server does when the client has gone.
func InterruptibleContext(parent context.Context) (ctx context.Context, gone func()) {
	parent, cancel := context.WithCancel(parent)
	c := &interruptibleContext{Context: parent}
	return c, func() {
		cancel()
		c.downstream.interrupter.interrupt()
	}
}

type interruptibleContext struct {
	context.Context //nolint:containedctx // this is a context: it has a parent
	downstream      downstream
}

func (*interruptibleContext) Interruptible() bool { return true }

func (c *interruptibleContext) Value(key any) any {
	if key == downstreamKey {
		return &c.downstream
	}
	return c.Context.Value(key)
}

// WithInterim makes relay get interim responses.
func WithInterim(ctx context.Context, relay func(status int, header http.Header)) context.Context {
	return context.WithValue(ctx, downstreamKey, &downstream{interim: relayFunc(relay)})
}

type relayFunc func(status int, header http.Header)

func (f relayFunc) sendInterim(status int, header http.Header) { f(status, header) }

// AwaitLastWrites lets connections be used again however late an upload notices its end.
func (t *Transport) AwaitLastWrites(limit time.Duration) { t.lastWrite = limit }

// Movable and Move are what the server's side uses of a Body.
func (b *Body) Movable() (int64, bool) { return b.movable() }

func (b *Body) Move(dst *net.TCPConn, limit int64) (n int64, readErr, writeErr error) {
	return b.move(dst, limit)
}
