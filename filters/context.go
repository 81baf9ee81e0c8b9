package filters

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/gozer-gateway/gozer/internal/forwarded"
	"github.com/gozer-gateway/gozer/internal/headers"
	"github.com/gozer-gateway/gozer/internal/inflight"
	"github.com/gozer-gateway/gozer/routing"
)

// Context is one request on its way through the filters. It belongs to the
// goroutine that serves the request and is valid until the response has been
// sent; Clone it to keep it longer.
type Context struct {
	// Request is what the client sent. Filters read it and never change it;
	// what goes upstream is Out.
	Request *http.Request

	// Path is the path of Request, cleaned for matching and as raw bytes.
	Path routing.Path

	// Out is what will be sent upstream.
	Out Outbound

	// Route is the matched route; nil before PreDecoration (pre, order 5) and
	// when no route matched.
	Route *routing.Route

	// ServiceID names the service the request is sent to. Setting it before
	// PreDecoration replaces route matching; setting it afterwards sends the
	// request to another service than the route names.
	ServiceID string

	// ForwardTo is the local path that answers instead of an upstream, with
	// its raw query if it has one; empty for none.
	ForwardTo string

	// LoadBalancerKey is handed to the service's load-balancing rule; nil for
	// none.
	LoadBalancerKey any

	// Retryable allows the load balancer to repeat the request after an error
	// or a retryable status, within the rules for its method.
	Retryable bool

	// Upgrade lists the protocols that the client offers to switch to, such as
	// "websocket"; empty for none. A pre filter that clears it makes the
	// request an ordinary one.
	Upgrade string

	// Response is the answer; nil until a filter has one. While it is set,
	// the built-in routing filters stand aside.
	Response *Response

	// Err is the first failure; nil while all is well.
	Err error

	// Start is when the request head had been read.
	Start time.Time

	// Trace names the request's trace; zero when tracing is off.
	Trace Trace

	// RequestID names the request in logs, in the error body and towards the
	// upstream (gateway.request-id.*); empty when that is switched off.
	RequestID string

	origin     Origin
	judged     bool // origin is known
	writer     writer
	ignored    ignored
	upstream   io.Closer
	body       *clientBody // nil without one
	aborted    bool
	switched   string   // what the upstream says it has switched to
	connection []string // the upstream's Connection field
	received   received

	chain      *Chain
	passed     time.Duration // from Start to the end of the last filter
	executions []Execution
	attributes []attribute
	debug      *debugLog
	account    account
	depth      int // of RunPhase in RunPhase

	memory *memory // nil in a clone
}

// maxDepth bounds filters that ask for the phase they are in.
const maxDepth = 16

// NewContext starts the context of one request. path is the cleaned path of
// r's target. The front doors call it; tests use package filtertest.
func NewContext(w http.ResponseWriter, r *http.Request, path routing.Path, start time.Time) *Context {
	c := &Context{memory: newMemory()}
	c.begin(w, r, path, start)
	return c
}

// begin fills a context that has nothing but its memory.
func (c *Context) begin(w http.ResponseWriter, r *http.Request, path routing.Path, start time.Time) {
	m := c.memory
	headers.EndToEnd(m.out, r.Header, forwarded.IsClaim)
	c.Request, c.Path, c.Start = r, path, start
	c.Out = outboundOf(r, m.out)
	c.Out.Path, c.Out.memory = path.Raw, m
	c.Upgrade = offered(r)
	c.writer.ResponseWriter = w
	c.executions = m.executions[:0]
	c.account.attempts = m.attempts[:0]
	c.ownBody()
}

// Respond answers the request without routing it. The built-in routing filters
// then stand aside, the post filters run. header may be nil, and is owned by
// the response from now on; body may be nil. A body with a Len method (bytes
// or strings readers) is sent with its length.
func (c *Context) Respond(status int, header http.Header, body io.Reader) {
	if header == nil {
		header = http.Header{}
	}
	res := &Response{Status: status, Header: header}
	if body != nil {
		res.ContentLength = lengthOf(body)
		res.Body = closerOf(body)
	}
	c.Response = res
}

// Receive makes an upstream's response the answer. Hop-by-hop fields (but for
// the Upgrade of a 426) and ignored ones are dropped from its header, so Response.Header holds just what will be
// sent; res.Header is owned by the context from now on. The body is released
// when the request ends, even if a filter puts another Response or Body in its
// place. Route filters call it.
func (c *Context) Receive(res *http.Response) {
	c.switched, c.connection = res.Header.Get("Upgrade"), res.Header["Connection"]
	required := requiredUpgrade(res)
	c.cleanReceived(res.Header)
	if required != "" {
		res.Header["Upgrade"] = []string{required}
	}
	c.upstream = closeBoth(c.upstream, res.Body)
	own := c.newResponse()
	*own = Response{
		Status:        res.StatusCode,
		Header:        res.Header,
		Body:          res.Body,
		ContentLength: res.ContentLength,
		Trailer:       res.Trailer,
	}
	c.Response, c.received = own, received{res, own}
}

// Writer is the client's side of the exchange. SendResponse and SendError
// write to it; other filters set Response instead.
func (c *Context) Writer() http.ResponseWriter { return &c.writer }

// Committed reports whether a final response head has left for the client, so
// that no other answer can be given.
func (c *Context) Committed() bool { return c.writer.committed }

// Status is the status that has been sent to the client, 0 before that.
func (c *Context) Status() int { return c.writer.status }

// Abort makes the front door cut the client's connection instead of ending the
// response properly, so that a response cut short is not taken for complete.
func (c *Context) Abort() { c.aborted = true }

// Aborted reports whether Abort was called.
func (c *Context) Aborted() bool { return c.aborted }

// Cut reports that the gateway itself has ended the request while it was shutting down. Its
// context ends then as if the client had left.
func (c *Context) Cut() bool { return inflight.Cut(c.Request.Context()) }

// Executions lists the filters that have run so far, in order. The slice is
// valid as long as c.
func (c *Context) Executions() []Execution { return c.executions }

// Logger returns the logger of the chain that serves the request. Its lines name the
// request's trace, if there is one.
func (c *Context) Logger() *slog.Logger {
	if c.chain == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Trace.Mark(c.chain.logger)
}

// RunPhase runs the filters of a custom phase and returns the first failure.
// Calling it for one of the four phases of a request runs that phase again.
func (c *Context) RunPhase(phase Phase) error {
	if c.chain == nil {
		return nil
	}
	if c.depth >= maxDepth {
		return fmt.Errorf("filters: phase %s runs within itself more than %d times", phase, maxDepth)
	}
	c.depth++
	defer func() { c.depth-- }()
	return c.chain.run(phase, c)
}

// Clone returns a copy that stays valid after the request has ended, for logs
// or later work. Bodies and the client's connection are not part of it.
func (c *Context) Clone() *Context {
	d := *c
	d.memory, d.Out.memory = nil, nil
	d.Request = c.Request.Clone(context.WithoutCancel(c.Request.Context()))
	d.Request.Body = http.NoBody
	d.Out.Header = c.Out.Header.Clone()
	d.Out.Body = http.NoBody
	if c.Response != nil {
		res := *c.Response
		res.Header, res.Trailer, res.Body = res.Header.Clone(), res.Trailer.Clone(), nil
		d.Response = &res
	}
	d.writer = writer{ResponseWriter: nobody{}, committed: true}
	d.writer.written, d.writer.status = c.writer.written, c.writer.status
	d.account = c.copiedAccount()
	d.upstream, d.body, d.received = nil, nil, received{}
	d.ignored.more = slices.Clone(c.ignored.more)
	d.executions = slices.Clone(c.executions)
	d.attributes = slices.Clone(c.attributes)
	d.debug = c.debug.clone()
	return &d
}

// Release closes what the request still holds. The front door calls it once,
// when the request is over; it is safe to call again.
func (c *Context) Release() {
	if c.Response != nil && c.Response.Body != nil {
		_ = c.Response.Body.Close() // a failure to close harms nobody any more
	}
	if c.upstream != nil {
		_ = c.upstream.Close()
		c.upstream = nil
	}
}
