package lb

import (
	"context"
	"net/http"
)

// Command sends requests to a service: it chooses a server per attempt, records the
// outcome in its statistics and repeats failed attempts within its policy. It holds no
// state of its own, so a reload simply makes another one around the same Balancer. The
// fields must not change once Do has been called, from any number of goroutines.
type Command struct {
	Balancer *Balancer
	// Transport carries an attempt to the server named by the URL; nil means
	// http.DefaultTransport. Its connect and read timeouts bound an attempt. It should not
	// repeat what it has sent; see Do.
	Transport http.RoundTripper
	Retry     RetryPolicy
	Secure    SecurePolicy
	// Budget bounds the retries of all calls to the service; nil: nothing does.
	Budget *RetryBudget
	// Hedge sends some requests to several servers at once.
	Hedge HedgePolicy
	// Listeners hear of every step, in this order.
	Listeners []ExecutionListener
	// Tracer follows the attempts; nil: nobody does.
	Tracer Tracer
	// Rule is the name of the balancer's rule, for the tracer.
	Rule string
}

// Recorder is told of every attempt of a call, when the head of the response has come or
// the attempt has failed. It is called on the goroutine of the call, before that returns.
type Recorder interface{ Attempted(a Attempt) }

// Call is what a caller says about one request.
type Call struct {
	Key       any  // handed to the balancer's rule
	Retryable bool // of the route: failures after the request was sent may be repeated

	// Server, if not nil, gets all attempts. The command's balancer must have chosen it.
	Server *Server
	// Retry, if not nil, is used in place of the command's.
	Retry *RetryPolicy
	// Header, if it is not nil, is an empty map that the response may use for its header.
	Header http.Header
	// Recorder, if not nil, is told of the attempts.
	Recorder Recorder

	descent descent
	resent  int // attempts before those of this call
}

// Do sends req to a server of the service, or to several in turn, and returns the first
// response that needs no further attempt, its body unread. Errors are of type *Error.
//
// URL.Host is ignored: the server that is chosen fills it in, and URL.Scheme too, unless
// nothing is known about the server's. The
// path and query go out as they stand in URL.Opaque, or in RawPath and RawQuery; an Opaque
// that begins with two slashes, of which net/http would make an absolute URL, is sent
// as a path too. An empty req.Host becomes the server's host:port. req is not changed.
//
// req.Body is streamed and left open: closing it is the caller's business. After Do has
// returned, the transport may still be reading it if the response came early; after an
// error at most one Read that had already begun goes on.
//
// Do stops when the request's context ends. A context that was cancelled, rather than
// one whose deadline passed or whose cause is a timeout, means that the caller went
// away: no server is blamed for that.
//
// net/http's Transport repeats a request by itself when a reused connection turns out
// to be dead. Do lets it do so only if nothing was written or the method is read-only:
// GetBody serves what was kept of the body, and (X-)Idempotency-Key, which net/http would
// take for a permission to repeat what was sent, goes out in lower case, in which
// net/http does not look for it.
func (c *Command) Do(req *http.Request, call Call) (*http.Response, error) {
	call.descent = borrowed
	return c.send(req.Context(), copied(req), call, false)
}

// Send is Do for a caller who gives req and its URL away: they are changed and sent as
// they are. ctx takes the place of the request's own context.
func (c *Command) Send(ctx context.Context, req *http.Request, call Call) (*http.Response, error) {
	return c.send(ctx, req, call, false)
}

// send is Send that closes the body if it is told to, when no attempt reads it any more.
func (c *Command) send(ctx context.Context, req *http.Request, call Call, closes bool) (*http.Response, error) {
	policy := &c.Retry
	if call.Retry != nil {
		policy = call.Retry
	}
	if c.hedges(req, call, policy) {
		return c.hedged(ctx, req, call, policy)
	}
	x := exchange{
		cmd:     c,
		policy:  policy,
		ctx:     ctx,
		req:     req,
		call:    call,
		url:     *req.URL,
		host:    req.Host,
		repeats: policy.repeats(call, req.Method),
		body:    openBody(req, policy.MaxReplayBytes, closes),
	}
	if len(c.Listeners) > 0 {
		x.watch = newWatch(ctx, c, req)
	}
	return x.run()
}
