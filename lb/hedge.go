package lb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// HedgePolicy sends a request to a second server while the first is silent, and takes
// the answer that comes first. It is for requests that may be repeated, are read-only
// and have no body; all others are sent as if there were no such policy. The zero value
// hedges nothing.
type HedgePolicy struct {
	// Delay is how long the last copy may be silent until another one is sent. A copy that
	// fails, or whose response is to be repeated, is followed by another one at once, within
	// MaxNext of the retry policy; MaxSame has no part in it.
	Delay time.Duration
	// Max bounds the copies that are sent for want of an answer.
	Max int
}

// hedges reports that a request may be sent to several servers at once.
func (c *Command) hedges(req *http.Request, call Call, policy *RetryPolicy) bool {
	return c.Hedge.Delay > 0 && c.Hedge.Max > 0 && call.Retryable && call.Server == nil && readOnly(req.Method) &&
		(req.Body == nil || req.Body == http.NoBody) && policy.MaxNext >= 0 && req.Header.Get("Upgrade") == ""
}

// hedge is one request on its way to several servers. Every copy is a call of its own,
// on a goroutine of its own, to a server of its own, in memory of its own: one that has
// lost may come to its end after the request has.
type hedge struct {
	cmd    *Command
	policy *RetryPolicy
	req    *http.Request // the copies are made of it
	call   Call
	single Command     // sends one copy
	one    RetryPolicy // of a copy, which is not repeated

	results chan hedgeResult
	over    chan struct{} // closed when nobody waits for results any more
	tried   []*Server     // by copy
	starts  []time.Time   // by copy, zero once its end has been told
	cancels []context.CancelFunc
	pending int
	late    int // copies sent for want of an answer
	moved   int // copies sent after another one failed
}

// hedgeResult is what became of a copy.
type hedgeResult struct {
	copy int
	resp *http.Response
	err  error
	took time.Duration
}

// hedged is send for a request that hedges.
func (c *Command) hedged(ctx context.Context, req *http.Request, call Call, policy *RetryPolicy) (*http.Response, error) {
	h := &hedge{
		cmd: c, policy: policy, req: req, call: call, single: *c, one: *policy,
		results: make(chan hedgeResult), over: make(chan struct{}),
	}
	h.single.Budget, h.single.Hedge = nil, HedgePolicy{}
	h.one.MaxSame, h.one.MaxNext = 0, 0
	defer close(h.over)
	if !h.send(ctx) {
		return nil, noServer(c.Balancer.Name())
	}
	c.Budget.deposit()
	r := h.await(ctx)
	h.tellLosers()
	for i, cancel := range h.cancels {
		if i != r.copy || r.err != nil {
			cancel()
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	r.resp.Body = &hedgedBody{r.resp.Body, h.cancels[r.copy]}
	return r.resp, nil
}

// send begins a copy on a server that has none yet. It returns false when there is no
// such server.
func (h *hedge) send(ctx context.Context) bool {
	server := h.cmd.Balancer.Choose(h.call.Key, h.tried)
	if server == nil || slices.Contains(h.tried, server) {
		return false
	}
	ctx, cancel := context.WithCancel(http1.Apart(ctx))
	index := len(h.tried)
	start := time.Now()
	h.tried, h.cancels, h.starts = append(h.tried, server), append(h.cancels, cancel), append(h.starts, start)
	h.pending++
	req := copied(h.req)
	req.Header = h.req.Header.Clone()
	call := h.call
	call.Server, call.Retry, call.Header, call.Recorder = server, &h.one, nil, nil
	call.descent, call.resent = hedged, index
	go func() {
		resp, err := h.single.guarded(ctx, req, call)
		took := time.Since(start)
		select {
		case h.results <- hedgeResult{index, resp, err, took}:
		case <-h.over:
			discard(resp)
		}
	}()
	return true
}

// guarded is Send for a goroutine that has nobody to panic for it.
func (c *Command) guarded(ctx context.Context, req *http.Request, call Call) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Service: c.Balancer.Name(), Kind: General, Err: fmt.Errorf("lb: transport panicked: %v", p)}
		}
	}()
	return c.Send(ctx, req, call)
}

// again sends a further copy if the budget allows it.
func (h *hedge) again(ctx context.Context) bool {
	if ctx.Err() != nil || !h.cmd.Budget.withdraw(time.Now()) {
		return false
	}
	if !h.send(ctx) {
		h.cmd.Budget.refund()
		return false
	}
	return true
}

// await takes the first answer that will do, or else the last one.
func (h *hedge) await(ctx context.Context) hedgeResult {
	timer := time.NewTimer(h.cmd.Hedge.Delay)
	defer timer.Stop()
	var last hedgeResult
	for {
		select {
		case <-timer.C:
			if h.late < h.cmd.Hedge.Max && h.again(ctx) {
				h.late++
				timer.Reset(h.cmd.Hedge.Delay)
			}
		case r := <-h.results:
			h.pending--
			h.tell(r)
			last = h.replace(last, r)
			switch {
			case r.err == nil && !h.policy.repeatsStatus(r.resp.StatusCode):
				return last
			case h.moved < h.policy.MaxNext && h.again(ctx):
				h.moved++
			case h.pending == 0:
				return last
			}
		}
	}
}

// tell lets the caller's recorder know of a copy that has ended.
func (h *hedge) tell(r hedgeResult) {
	if h.call.Recorder == nil {
		return
	}
	a := Attempt{Server: h.tried[r.copy].id(), Start: h.starts[r.copy], Err: r.err, Duration: r.took}
	if failed, ok := errors.AsType[*Error](r.err); ok {
		a.Kind, a.Err = failed.Kind, failed.Err
	}
	if r.resp != nil {
		a.Status = r.resp.StatusCode
	}
	h.starts[r.copy] = time.Time{}
	h.call.Recorder.Attempted(a)
}

// tellLosers does so for the copies whose ends nobody waits for.
func (h *hedge) tellLosers() {
	for i, start := range h.starts {
		if !start.IsZero() {
			lost := &Error{Service: h.cmd.Balancer.Name(), Kind: Cancelled, Err: context.Canceled}
			h.tell(hedgeResult{copy: i, err: lost, took: time.Since(start)})
		}
	}
}

// replace gives up a result for a later one, which tells of all attempts.
func (h *hedge) replace(old, r hedgeResult) hedgeResult {
	if old.resp != nil {
		discard(old.resp)
		h.cancels[old.copy]()
	}
	before, failed := errors.AsType[*Error](old.err)
	if now, ok := errors.AsType[*Error](r.err); ok && failed {
		now.Attempts = slices.Concat(before.Attempts, now.Attempts)
	}
	return r
}

// hedgedBody is the body of the copy that has won. Closing it ends the copy's context.
type hedgedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body first, so that its connection can be used again.
func (b *hedgedBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel()
	return err
}

// WriteTo leaves the choice of the fastest way to the two ends.
func (b *hedgedBody) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, b.ReadCloser) }
