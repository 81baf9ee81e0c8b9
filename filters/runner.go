package filters

import (
	"errors"
	"net/http"
	"time"
)

// Serve sends c through the phases exactly as the table of zuul.md 1.2 says. If
// c.Err is already set, the request is treated as one whose pre phase failed:
// the error and post phases run. Serve writes nothing itself and leaves the
// release of c to the front door.
func (ch *Chain) Serve(c *Context) {
	c.chain = ch
	if c.Err == nil {
		c.Err = ch.runEntries(Pre, ch.pre, c)
		c.mark(&c.account.pre)
	}
	if c.Err == nil {
		c.Err = ch.runEntries(Route, ch.route, c)
		c.mark(&c.account.route)
	}
	failed := c.Err != nil
	if failed {
		ch.fail(c)
	}
	err := ch.runEntries(Post, ch.post, c)
	c.mark(&c.account.post)
	if err == nil {
		return
	}
	if failed {
		err = unhandled(err)
	}
	c.Err = err
	ch.fail(c)
}

// fail runs the error phase for c.Err. A failure in it skips the remaining
// error filters and is otherwise swallowed (row 8 of the table).
func (ch *Chain) fail(c *Context) {
	if err := ch.runEntries(Error, ch.errors, c); err != nil {
		c.Logger().ErrorContext(c.Request.Context(), "error filter failed", "request", c.RequestID, "error", err, "handling", c.Err)
	}
	c.mark(&c.account.error)
}

// unhandled replaces the error of a request whose clean-up failed too (row 6).
func unhandled(err error) error {
	cause := "UNHANDLED_EXCEPTION"
	if f, ok := errors.AsType[*FilterError](err); ok {
		cause += "_" + f.Cause()
	}
	return &StatusError{Status: http.StatusInternalServerError, Cause: cause, Err: err}
}

func (ch *Chain) run(phase Phase, c *Context) error {
	return ch.runEntries(phase, ch.phases[phase], c)
}

func (ch *Chain) runEntries(phase Phase, entries []*entry, c *Context) error {
	if c.debug != nil {
		c.debug.addf("Invoking {%s} type filters", phase)
	}
	for _, e := range entries {
		if err := e.apply(c); err != nil {
			return err
		}
	}
	return nil
}

// apply lets one filter decide and run, and keeps the books.
func (e *entry) apply(c *Context) error {
	if c.debug != nil {
		c.debug.addf("Filter %s %d %s", e.Phase, e.Order, e.Name)
	}
	if e.Disabled {
		e.count.add(Disabled, 0)
		return nil
	}
	debug, before := c.debug, c.debugFields()
	ran, err := e.invoke(c)
	if !ran {
		e.count.add(Skipped, 0)
		return nil
	}
	took, status := c.lap(), Success
	if err != nil {
		status = Failed
	}
	e.count.add(status, took)
	c.executions = append(c.executions, Execution{e.Phase, e.Name, status, took})
	if debug != nil {
		e.explain(c, before, took, err)
	}
	if err != nil {
		return &FilterError{Phase: e.Phase, Filter: e.Name, Err: err}
	}
	return nil
}

// invoke calls the filter and turns a panic into its error.
func (e *entry) invoke(c *Context) (ran bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			ran, err = true, recovered(v)
		}
	}()
	if !e.filter.ShouldFilter(c) {
		return false, nil
	}
	return true, e.filter.Run(c)
}

func (e *entry) explain(c *Context, before []debugField, took time.Duration, err error) {
	if err != nil {
		c.debug.addf("Running Filter failed %s type:%s order:%d %v", e.Name, e.Phase, e.Order, err)
		return
	}
	c.debug.addf("Filter {%s TYPE:%s ORDER:%d} Execution time = %dms", e.Name, e.Phase, e.Order, took.Milliseconds())
	c.debugChanges(e.Name, before)
}

// lap returns the time since the last filter ended; the filters that were
// skipped in between are part of it.
func (c *Context) lap() time.Duration {
	now := time.Since(c.Start)
	took := now - c.passed
	c.passed = now
	return took
}
