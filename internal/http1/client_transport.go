package http1

import (
	"context"
	"net/http"
	"time"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// maxResponseFields bounds the field lines of a response head.
const maxResponseFields = 1000

// Transport sends requests to upstream servers over a pool of connections, on
// the goroutine of its caller. Nothing is added to a request, nothing is
// decoded, redirects are not followed, cookies are not kept, and every wait has
// an end. Any number of goroutines may use it.
type Transport struct {
	dialer      *tlsout.Dialer
	pool        *pool
	buffers     *buffers
	limits      Limits // of responses
	readTimeout time.Duration
	lastWrite   time.Duration
}

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport returns a Transport without any connection. It starts nothing.
func NewTransport(s TransportSettings) *Transport {
	s = s.WithDefaults()
	return &Transport{
		dialer:      tlsout.NewDialer(s.ConnectTimeout, s.TLS),
		pool:        newPool(s),
		buffers:     newBuffers(),
		limits:      Limits{HeaderBytes: int(s.MaxHeaderBytes), Headers: maxResponseFields}.withDefaults(),
		readTimeout: s.ReadTimeout,
		lastWrite:   lastWrite,
	}
}

// RoundTrip sends one request and returns the response head; see
// http.RoundTripper. The body must be closed, which gives the connection back;
// it belongs to one goroutine, except that any may close it.
//
// The target goes out as URL.RequestURI gives it. An empty User-Agent stands
// for none. A body of a known length up to 16 KiB is read before anything is
// sent. A larger one, or one of unknown length, is sent by a goroutine of its
// own, while the answer may come already; that goroutine may still be reading
// the body when RoundTrip, or even the reading of the response, is over.
//
// The request ends with its context. A context that has the method
// Interruptible is trusted to end by its deadline and its Interrupter only, so
// that no goroutine watches it.
//
// A request on a reused connection that ends without a byte of an answer is
// sent once more, on a new connection, if nothing had been sent or the method
// is read-only and the body, if any, is short.
//
// Responses of status 101 have a *Tunnel for a body. The fields Request, Status,
// Proto, Header, Trailer, ContentLength, TransferEncoding and Close of others
// are as in net/http; TLS is not filled in. Errors are ErrReadTimeout, ErrPoolExhausted,
// the cause of the context's end, *Error for a response against the rules, what
// the request's body failed with, or an error of the network. Those before the
// first byte was sent have a method NothingSent that returns true, those before there was
// a connection, or the attempt to make one, also ServerUnasked.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.Carry(req.Context(), req, nil)
}

// Carry is RoundTrip with ctx in the place of the request's own context. into is
// nil or an empty map, in which the header of the response may be returned. req
// is neither changed nor kept for longer than its body is sent, but for the
// response's Request.
func (t *Transport) Carry(ctx context.Context, req *http.Request, into http.Header) (*http.Response, error) {
	x := trip{transport: t, req: req, ctx: ctx, downstream: downstreamOf(ctx), into: into}
	res, err := x.run()
	x.letGo()
	return res, err
}

// CloseIdle closes the connections that no request uses.
func (t *Transport) CloseIdle() { t.pool.closeIdle() }

// Retire is CloseIdle for a Transport that is not to be used any more. Requests that
// are under way or still come are served, and no connection is kept for later.
func (t *Transport) Retire() { t.pool.retire() }
