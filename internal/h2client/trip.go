package h2client

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"

	"github.com/gozer-gateway/gozer/internal/headers"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/patient"
)

// maxInterim bounds the interim responses to one request.
const maxInterim = 32

// trip is one request on its way to a server and back.
type trip struct {
	transport *Transport
	req       *http.Request
	ctx       context.Context //nolint:containedctx // it ends with the trip
	header    http.Header
	content   []byte  // of a short body
	upload    *upload // of the current attempt, nil without a long body
	patience  bool    // the server has to take the body without long pauses
}

// RoundTrip sends one request and returns the response head; see http.RoundTripper. The
// body must be closed, which gives the stream back.
//
// A body of a known length up to 16 KiB is read before anything is sent. Any other is read
// by a goroutine of its own, while the answer may come already; that goroutine may still be
// reading when the response is over. Connection, Upgrade and their like are not sent.
//
// The request ends with its context, which resets its stream. One that has not been worked
// on, since its connection was closed or the server has sent GOAWAY, is sent once more on
// another connection, if its body can be.
//
// Errors are http1.ErrReadTimeout, http1.ErrPoolExhausted, the cause of the context's end,
// what the request's body failed with, or one of HTTP/2 or the network. Those of requests
// that no server has worked on have a method NothingSent that returns true.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &trip{transport: t, req: req, ctx: req.Context()}
	res, err := x.run()
	switch {
	case x.upload != nil:
		x.upload.settle()
	case req.Body != nil:
		_ = req.Body.Close() // it has been read, or is not wanted
	}
	return res, err
}

func (x *trip) run() (*http.Response, error) {
	if err := x.prepare(); err != nil {
		return nil, err
	}
	if x.ctx.Err() != nil {
		return nil, http1.Unasked(context.Cause(x.ctx))
	}
	o := origin{x.req.URL.Scheme, x.req.URL.Host}
	for again := false; ; again = true {
		at, err := x.transport.acquire(x.ctx, o)
		if err != nil {
			return nil, err
		}
		res, err := x.exchange(at.conn)
		if err == nil || again || x.ctx.Err() != nil || !x.repeatable(at, err) {
			return res, x.explain(err)
		}
	}
}

func (x *trip) explain(err error) error {
	if err == nil {
		return nil
	}
	return explain(x.ctx, err)
}

// prepare checks the request and takes out what belongs to one connection.
func (x *trip) prepare() error {
	u := x.req.URL
	switch {
	case u == nil || u.Host == "":
		return errNoURL
	case u.Scheme != "http" && u.Scheme != "https":
		return errScheme
	case x.hasBody():
	case x.req.ContentLength > 0:
		return errNoBody
	}
	x.header = endToEnd(x.req.Header)
	x.patience = !pausing(x.header.Get("Content-Type"))
	headers.Strip(x.req.Trailer)
	if !x.hasBody() || x.req.ContentLength <= 0 || x.req.ContentLength > shortBody {
		return nil
	}
	var err error
	x.content, err = short(x.req)
	return err
}

func (x *trip) hasBody() bool { return x.req.Body != nil && x.req.Body != http.NoBody }

// endToEnd is h without the fields that RFC 9113 8.2.2 forbids.
func endToEnd(h http.Header) http.Header {
	own := h
	for name, values := range h {
		if name == "Te" && len(values) == 1 && values[0] == "trailers" || !headers.IsHopByHop(name) {
			continue
		}
		if len(own) == len(h) {
			own = maps.Clone(h)
		}
		delete(own, name)
	}
	return own
}

// repeatable reports that a request may be sent once more to the same server.
func (x *trip) repeatable(at place, err error) bool {
	switch {
	case leaving(err):
		return x.upload == nil || !x.upload.touched() || x.req.GetBody != nil
	case at.used && broken(err) && x.req.Body == nil:
		return readOnly(x.req.Method) // as net/http does with HTTP/1.1
	}
	return false
}

func readOnly(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// body opens the request's body for one more attempt.
func (x *trip) body(ctx context.Context, cancel context.CancelCauseFunc) (io.ReadCloser, error) {
	switch {
	case !x.hasBody():
		return nil, nil //nolint:nilnil // net/http's way to say that there is none
	case x.content != nil:
		return newMemoryBody(x.content), nil
	}
	source := x.req.Body
	if x.upload != nil && x.upload.touched() {
		var err error
		if source, err = x.req.GetBody(); err != nil {
			return nil, unsent(err)
		}
	}
	length := x.req.ContentLength
	if length == 0 {
		length = -1
	}
	x.upload = newUpload(source, length)
	x.upload.cancel = cancel
	if x.patience {
		x.upload.patience = x.transport.settings.ReadTimeout
	}
	upload := x.upload
	context.AfterFunc(ctx, func() { _ = upload.Close() }) // net/http looks at the context only between two reads
	return upload, nil
}

// exchange sends the request on one stream. After an error that is given back.
func (x *trip) exchange(c *conn) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(x.ctx)
	fail := func(err error) (*http.Response, error) {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(nil)
		x.transport.release(c)
		return nil, err
	}
	content, err := x.body(ctx, cancel)
	if err != nil {
		c.http.Release()
		return fail(err)
	}
	relay := &relay{ctx: x.ctx}
	out := x.req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: relay.pass}))
	out.Header, out.Body, out.GetBody = x.header, content, nil
	res, err := c.http.RoundTrip(out)
	relay.stop()
	if err == nil {
		err = checkStatus(res)
	}
	if err != nil {
		return fail(err)
	}
	res.Request = x.req
	b := &patient.Body{
		ReadCloser: res.Body,
		Cancel:     cancel,
		Release:    func() { x.transport.release(c) },
		Explain:    func(err error) error { return explain(ctx, err) },
	}
	if !pausing(res.Header.Get("Content-Type")) {
		b.Patience = x.transport.settings.ReadTimeout
	}
	res.Body = b
	return res, nil
}

// checkStatus refuses what is no status of three digits, which net/http lets pass.
func checkStatus(res *http.Response) error {
	if len(res.Status) > 3 && res.Status[3] == ' ' && res.StatusCode >= http.StatusOK && res.StatusCode <= 999 {
		return nil
	}
	_ = res.Body.Close()
	return fmt.Errorf("h2client: the server answered with the status %d", res.StatusCode)
}

// relay hands interim responses to the client's side, as long as the final one has not
// come.
type relay struct {
	ctx context.Context //nolint:containedctx // it ends with the trip

	mu    sync.Mutex
	count int
	over  bool
}

func (r *relay) pass(status int, header textproto.MIMEHeader) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count++; r.count > maxInterim || status == http.StatusSwitchingProtocols {
		return fmt.Errorf("h2client: too many interim responses, or one of status 101: %d", status)
	}
	if !r.over && status != http.StatusContinue {
		http1.SendInterim(r.ctx, status, http.Header(header))
	}
	return nil
}

func (r *relay) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}
