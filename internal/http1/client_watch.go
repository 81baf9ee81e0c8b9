package http1

import "context"

// interruptible is a context that ends in no other ways than by its deadline
// and together with the Interrupter of its downstream, so that nobody has to
// watch its Done channel. A context that package context derives from one has
// an end of its own, and lacks the method.
type interruptible interface {
	context.Context
	Interruptible() bool
}

// interrupterOf returns nil if only Done tells about the end of ctx.
func interrupterOf(ctx context.Context, d *downstream) *Interrupter {
	if c, ok := ctx.(interruptible); d == nil || !ok || !c.Interruptible() {
		return nil
	}
	return &d.interrupter
}

// watch ties a connection to the context for which it works.
type watch struct {
	interrupter *Interrupter
	stop        func() bool // of a context without one; nil if it never ends
}

// begin makes the end of ctx end what blocks on c. It returns false if ctx has
// ended already.
func (w *watch) begin(ctx context.Context, d *downstream, c *clientConn) bool {
	*w = watch{interrupter: interrupterOf(ctx, d)}
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
