package http1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	// inlineBody is the length up to which a request body leaves together with
	// the head.
	inlineBody = 16 << 10
	// headRoom is what most request heads fit in.
	headRoom = 2 << 10
)

var (
	errNoURL     = errors.New("http1: request without a URL")
	errScheme    = errors.New("http1: URL is neither http nor https")
	errNoHost    = errors.New("http1: URL without a host")
	errNoBody    = errors.New("http1: request with a length and no body")
	errShortBody = errors.New("http1: request body is shorter than its length")
	errDead      = errors.New("http1: the connection was dead before it was used again")
)

// trip is one request on its way to a server and back. It lives on the stack of
// RoundTrip.
type trip struct {
	transport *Transport
	req       *http.Request
	ctx       context.Context //nolint:containedctx // it ends with the trip
	message   message
	now       time.Time // when the current attempt began

	downstream *downstream // nil if the request does not come from a server of ours
	into       http.Header // for the response; nil: a new one

	host   *poolHost
	conn   *clientConn
	lent   *buffer // holds out, as long as that has not grown out of it
	out    []byte  // head, and body if it is short
	wrote  bool    // some of it
	upload *upload // nil without a long body, and until the head is sent
}

func (x *trip) run() (*http.Response, error) {
	if err := x.prepare(); err != nil {
		return nil, err
	}
	if x.ctx.Err() != nil {
		return nil, Unasked(context.Cause(x.ctx))
	}
	if err := x.compose(); err != nil {
		return nil, x.explain(err)
	}
	o := origin{x.req.URL.Scheme, x.req.URL.Host}
	host, conn, now, err := x.transport.pool.acquire(x.ctx, o, time.Now())
	if err != nil {
		return nil, err
	}
	x.host, x.now = host, now
	res, err := x.attempt(conn)
	for errors.Is(err, errDead) {
		res, err = x.attempt(x.transport.pool.reuse(host))
	}
	if err != nil && x.repeatable(err) {
		res, err = x.attempt(nil)
	}
	if err != nil {
		x.transport.pool.release(host, nil)
		return nil, x.explain(err)
	}
	return res, nil
}

// letGo gives back what only RoundTrip itself needs.
func (x *trip) letGo() {
	if x.lent != nil {
		x.transport.buffers.put(x.lent)
	}
	if x.upload == nil && x.req.Body != nil {
		_ = x.req.Body.Close()
	}
}

// prepare checks the request and decides how its body is delimited.
func (x *trip) prepare() error {
	u := x.req.URL
	switch {
	case u == nil:
		return errNoURL
	case u.Scheme != "http" && u.Scheme != "https":
		return errScheme
	case u.Host == "":
		return errNoHost
	}
	x.message = message{close: x.req.Close}
	hasBody := x.req.Body != nil && x.req.Body != http.NoBody
	switch {
	case !hasBody && x.req.ContentLength > 0:
		return errNoBody
	case !hasBody:
		x.message.explicit = expectsLength(x.req.Method)
	case x.req.ContentLength > 0:
		x.message.framing, x.message.length = lengthBody, x.req.ContentLength
	default:
		x.message.framing, x.message.trailer = chunkedBody, x.req.Trailer
	}
	return nil
}

// expectsLength reports whether a request without a body says so.
func expectsLength(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

func (x *trip) inline() bool {
	return x.message.framing == lengthBody && x.message.length <= inlineBody
}

// attempt makes the exchange on an idle connection, or on a new one if conn is
// nil. After an error the connection is closed.
func (x *trip) attempt(conn *clientConn) (*http.Response, error) {
	if x.lent == nil {
		if err := x.compose(); err != nil {
			return nil, err
		}
	}
	if conn == nil {
		raw, err := x.transport.dial(x.ctx, x.host.origin)
		if err != nil {
			return nil, err
		}
		x.now = time.Now()
		conn = newClientConn(raw, x.transport.buffers, x.now)
	}
	x.conn, x.wrote = conn, false
	if !conn.begin(x.ctx, x.downstream, x.now, x.transport.readTimeout) {
		conn.close()
		return nil, os.ErrDeadlineExceeded
	}
	res, err := x.exchange()
	if err != nil {
		conn.watch.end(conn)
		conn.close()
	}
	return res, err
}

func (x *trip) exchange() (*http.Response, error) {
	if err := x.send(); err != nil {
		return nil, err
	}
	if err := x.receive(); err != nil {
		return nil, err
	}
	return x.respond()
}

// send writes the head, with a short body, and starts the upload of a long one.
func (x *trip) send() error {
	long := x.message.framing != noBody && !x.inline()
	x.conn.arm(deadline(x.ctx, x.now, x.conn.patience))
	x.downstream.giveWay()
	var n int
	var err error
	if long || !x.conn.asker.able() {
		n, err = x.conn.send(x.out)
	} else {
		n, err = x.ask()
	}
	x.wrote = n > 0
	if err != nil {
		return err
	}
	if long {
		x.upload = startUpload(x)
	}
	return nil
}

// ask sends a short request and waits for its answer, without out if that can be
// made again.
func (x *trip) ask() (int, error) {
	out, lent := x.out, x.lent
	if x.message.framing != noBody {
		return x.conn.asker.ask(out, nil)
	}
	x.out, x.lent = nil, nil
	return x.conn.asker.ask(out, lent)
}

// compose makes out, before there is a connection: a client may take its time for a
// short body, and what cannot be sent needs none.
func (x *trip) compose() error {
	size := headRoom
	if x.inline() {
		size += int(x.message.length)
	}
	x.lent = x.transport.buffers.get(size)
	var err error
	x.out, err = appendRequestHead(x.lent.bytes[:0], x.req, x.message)
	if err == nil && x.inline() {
		err = x.appendBody(int(x.message.length))
	}
	if err != nil {
		err = &ownError{err}
	}
	return err
}

func (x *trip) appendBody(length int) error {
	start := len(x.out)
	x.out = append(x.out, make([]byte, length)...)
	missing := x.out[start:]
	for len(missing) > 0 {
		n, err := x.req.Body.Read(missing)
		missing = missing[n:]
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF):
			return err
		case len(missing) > 0:
			return errShortBody
		}
	}
	return nil
}

// ownError is a fault of the request itself or of its body.
type ownError struct{ error }

func (e *ownError) Unwrap() error { return e.error }

// repeatable reports whether the connection has died before the request reached
// anybody, or may be sent again.
func (x *trip) repeatable(err error) bool {
	var own *ownError
	switch {
	case x.conn == nil, !x.conn.used || x.conn.heard || x.upload != nil || x.ctx.Err() != nil:
		return false
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &own):
		return false
	}
	return !x.wrote || readOnly(x.req.Method)
}

func readOnly(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// explain makes the error of the trip.
func (x *trip) explain(err error) error {
	var refused *Error
	var own *ownError
	var marked *unsentError
	switch {
	case x.upload.failure() != nil:
		return x.upload.failure()
	case errors.As(err, &own):
		return own.error
	case errors.As(err, &refused), errors.As(err, &marked):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = explain(x.ctx, err)
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("http1: %s closed the connection without an answer: %w", x.host.origin.host, io.ErrUnexpectedEOF)
	}
	if x.wrote {
		return err
	}
	return unsent(err)
}
