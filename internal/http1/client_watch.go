package http1

import "context"

// interruptible is a context that ends in no other ways than by its deadline
// and together with the Interrupter among its values, so that nobody has to
// watch its Done channel. A context that package context derives from one has
// an end of its own, and lacks the method.
type interruptible interface {
	context.Context
	Interruptible() bool
}

// interrupterOf returns nil if only Done tells about the end of ctx.
func interrupterOf(ctx context.Context) *Interrupter {
	if c, ok := ctx.(interruptible); !ok || !c.Interruptible() {
		return nil
	}
	i, _ := ctx.Value(interrupterKey).(*Interrupter)
	return i
}

// watch ties a connection to the context for which it works.
type watch struct {
	interrupter *Interrupter
	stop        func() bool // of a context without one; nil if it never ends
}

// begin makes the end of ctx end what blocks on c. It returns false if ctx has
// ended already.
func (w *watch) begin(ctx context.Context, c *clientConn) bool {
	*w = watch{interrupter: interrupterOf(ctx)}
	switch {
	case w.interrupter != nil:
		return w.interrupter.register(c)
	case ctx.Done() != nil:
		w.stop = context.AfterFunc(ctx, c.cutOff)
	}
	return true
}

// end unties c. It returns false when c has been cut off or may still be.
func (w *watch) end(c *clientConn) bool {
	switch {
	case w.interrupter != nil:
		return w.interrupter.unregister(c)
	case w.stop != nil:
		return w.stop()
	}
	return true
}
