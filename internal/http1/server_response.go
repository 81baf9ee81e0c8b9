package http1

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// errOver is the failure of whoever writes to a response after its handler has
// returned or the connection was hijacked.
var errOver = errors.New("http1: the response is over")

// response is the response to one request. What a handler writes waits in the
// connection's output until it is full, flushed, or complete: then the whole
// response leaves in one write.
type response struct {
	exchange *exchange
	header   http.Header
	status   int   // 0 until the final head has been begun
	length   int64 // Content-Length set by the handler, -1 without one
	written  int64 // bytes of the body
	framing  framing
	decided  bool // the framing is fixed and the head complete
	fields   int  // bytes of the head in the output, while not decided
	closing  bool // the connection ends with this response
	isHead   bool
	sniff    bool // the type of the content is to be found out
	timed    bool // the handler has set deadlines
	hijacked bool
	over     atomic.Bool // late writers look at it from other goroutines
	failure  error
	trailers []string // announced by the handler

	expecting bool       // the client has asked for 100 Continue
	mu        sync.Mutex // while expecting, guards continued and the change of status
	continued bool
}

var (
	_ http.ResponseWriter = (*response)(nil)
	_ http.Hijacker       = (*response)(nil)
	_ http.Flusher        = (*response)(nil)
	_ io.ReaderFrom       = (*response)(nil)
)

func (w *response) begin(x *exchange) {
	c := x.conn
	w.exchange = x
	w.header = c.responseHeader
	w.length = -1
	w.isHead = c.head.method == http.MethodHead
	w.expecting = c.head.expectContinue
	w.closing = !c.head.persistent() || c.server.MaxRequestsPerConnection > 0 && c.served >= c.server.MaxRequestsPerConnection
}

func (w *response) conn() *serverConn { return w.exchange.conn }
func (w *response) out() *output      { return &w.exchange.conn.out }

// Header is valid until the handler returns.
func (w *response) Header() http.Header {
	if w.over.Load() {
		return http.Header{}
	}
	return w.header
}

// WriteHeader sends an interim response at once. A final head is fixed, and
// leaves with the first bytes that follow.
func (w *response) WriteHeader(status int) {
	switch {
	case status < 100 || status > 999:
		panic("http1: invalid status " + strconv.Itoa(status))
	case w.over.Load() || w.status != 0:
		w.conn().server.log.Debug("a second response head is ignored", "status", status)
	case status < http.StatusOK && status != http.StatusSwitchingProtocols:
		w.sendInterim(status, w.header)
	default:
		w.start(status)
	}
}

func (w *response) start(status int) {
	w.fix(status)
	w.closing = w.closing || status == http.StatusSwitchingProtocols || w.mustClose(w.header)
	w.length = announcedLength(w.header["Content-Length"])
	w.sniff = w.wantsType()
	w.trailers = announcedTrailers(w.header["Trailer"])
	w.writeFields()
	if m, ok := w.known(); ok {
		w.decide(m)
	}
}

// fix sets the status, after which no interim response can be sent.
func (w *response) fix(status int) {
	if w.expecting {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	w.status = status
}

// mustClose reports why the connection should end with this response, apart
// from what the client wants.
func (w *response) mustClose(header http.Header) bool {
	x := w.exchange
	if x.conn.server.closing.Load() || x.body != nil && x.body.abandoned() {
		return true
	}
	for _, value := range header["Connection"] {
		for option := range members(value) {
			if strings.EqualFold(option, "close") {
				return true
			}
		}
	}
	return false
}

// announcedLength returns -1 for what is no length: the handler's word is not
// passed on then.
func announcedLength(values []string) int64 {
	if len(values) != 1 {
		return -1
	}
	n, ok := parseLength(values[0])
	if !ok {
		return -1
	}
	return n
}

// wantsType reports whether Content-Type is to be made up, as net/http does it:
// unless the handler has one, even one without values.
func (w *response) wantsType() bool {
	if noBodyStatus(w.status) || w.length == 0 {
		return false
	}
	_, typed := w.header["Content-Type"]
	_, encoded := w.header["Content-Encoding"]
	return !typed && !encoded
}

// writeFields puts the head into the output, without its end, or another one if
// that cannot be sent.
func (w *response) writeFields() {
	if err := w.tryFields(w.header, message{}); err != nil {
		w.fail(err)
		_ = w.tryFields(nil, message{}) // nothing in it can be wrong
	}
}

// tryFields puts the head into the output, without its end, unless it cannot be
// sent.
func (w *response) tryFields(header http.Header, m message) error {
	o := w.out()
	o.begin()
	if len(w.trailers) > 0 {
		header = maps.Clone(header)
		for _, name := range w.trailers {
			delete(header, name)
		}
	}
	if _, dated := header["Date"]; !dated {
		m.date = w.conn().server.clock.date()
	}
	head, err := appendResponseHead(o.buf, w.status, header, m)
	if err != nil {
		return err
	}
	o.buf = head[:len(head)-len("\r\n")]
	w.fields = len(o.buf)
	w.conn().sent = sentHead{header: header, endToEnd: m.endToEnd, date: m.date}
	return nil
}

// fail makes a head that cannot be sent an empty 500. Its body is refused.
func (w *response) fail(err error) {
	w.conn().server.log.Error("a response head cannot be sent", "error", err)
	w.failure = err
	w.status, w.length, w.sniff, w.closing, w.trailers = http.StatusInternalServerError, 0, false, true, nil
}

// sendInterim sends a 1xx response other than 101. Clients that speak HTTP/1.0
// get none, and 100 goes only to those that ask for it.
func (w *response) sendInterim(status int, header http.Header) {
	c := w.conn()
	switch {
	case w.over.Load() || w.status != 0 || w.failure != nil || c.head.minor == 0:
		return
	case status == http.StatusContinue:
		_ = w.sendContinue() // the next write fails too
		return
	case status < 102 || status > 199:
		return
	}
	head, err := appendInterimHead(nil, status, header)
	if err != nil {
		c.server.log.Debug("an interim response cannot be sent", "error", err)
		return
	}
	w.failure = c.out.write(head)
}

// sendContinue asks the client to send the body, if it waits for that. The
// goroutine that reads the body calls it.
func (w *response) sendContinue() error {
	if !w.expecting {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.continued || w.status != 0 {
		return nil
	}
	w.continued = true
	_, err := io.WriteString(w.conn().conn, "HTTP/1.1 100 Continue\r\n\r\n")
	return err
}

// SetReadDeadline is for http.ResponseController. The deadline holds for this
// request.
func (w *response) SetReadDeadline(t time.Time) error {
	w.timed = true
	return w.conn().conn.SetReadDeadline(t)
}

// SetWriteDeadline is for http.ResponseController. The deadline holds for this
// request.
func (w *response) SetWriteDeadline(t time.Time) error {
	w.timed = true
	return w.conn().conn.SetWriteDeadline(t)
}

// EnableFullDuplex is for http.ResponseController. A handler may always read
// the body while it answers.
func (*response) EnableFullDuplex() error { return nil }
