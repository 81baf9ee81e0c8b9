package http1

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// known returns the framing if it does not depend on what is still to come.
func (w *response) known() (m message, ok bool) {
	if w.sniff {
		return m, false
	}
	return w.typed()
}

// typed is known of a response whose type need not be found out.
func (w *response) typed() (m message, ok bool) {
	m.length = w.length
	switch {
	case noBodyStatus(w.status):
		m.explicit = w.status == http.StatusNotModified && w.length >= 0
		return m, true
	case w.isHead:
		m.explicit = true
		return m, w.length >= 0
	case w.length >= 0:
		m.framing = lengthBody
		return m, true
	}
	m.framing = chunkedBody
	return m, len(w.trailers) > 0 && w.conn().head.minor == 1
}

// streamed returns the framing of a body whose end is not in sight.
func (w *response) streamed() message {
	w.sniff = false
	if m, ok := w.known(); ok {
		return m
	}
	switch {
	case w.isHead:
		return message{}
	case w.conn().head.minor == 1:
		return message{framing: chunkedBody}
	}
	w.closing = true
	return message{framing: untilClose}
}

// ended returns the framing of a body that has been written as a whole.
func (w *response) ended() message {
	if m, ok := w.typed(); ok {
		return m
	}
	switch {
	case w.isHead:
		return message{explicit: w.written > 0, length: w.written}
	case w.conn().head.minor == 1 && w.hasTrailers():
		return message{framing: chunkedBody}
	}
	return message{framing: lengthBody, length: w.written}
}

// decide completes the head and puts it in front of what has been written.
func (w *response) decide(m message) {
	m = w.completed(m)
	w.decided, w.framing = true, m.framing
	w.conn().sent.message = m
	w.exchange.begun.Store(true)
	o := w.out()
	if w.fields == len(o.buf) {
		o.buf = appendMessage(o.buf, m)
		return
	}
	pending := slices.Clone(o.buf[w.fields:])
	o.buf = appendMessage(o.buf[:w.fields], m)
	if m.framing == chunkedBody {
		o.buf = appendChunk(o.buf, pending)
	} else {
		o.buf = append(o.buf, pending...)
	}
}

// completed adds what a head says that does not depend on the body.
func (w *response) completed(m message) message {
	m.close = w.closing && w.status != http.StatusSwitchingProtocols
	m.keepAlive = !w.closing && w.conn().head.minor == 0
	for _, name := range w.trailers {
		if m.trailer == nil {
			m.trailer = http.Header{}
		}
		m.trailer[name] = nil
	}
	return m
}

// Write takes a part of the body.
func (w *response) Write(p []byte) (int, error) {
	if err := w.accept(len(p)); err != nil {
		return 0, err
	}
	if w.isHead || len(p) == 0 {
		w.findType(p)
		return len(p), nil
	}
	if !w.decided {
		w.findType(p)
		if m, ok := w.known(); ok {
			w.decide(m)
		} else if w.out().fits(len(p)) {
			w.out().buf = append(w.out().buf, p...)
			return len(p), nil
		} else {
			w.decide(w.streamed())
		}
	}
	if err := w.put(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// accept counts n bytes of the body, or refuses them.
func (w *response) accept(n int) error {
	if w.over.Load() || w.hijacked {
		return errOver
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.failure != nil:
		return w.failure
	case n > 0 && noBodyStatus(w.status):
		return http.ErrBodyNotAllowed
	case w.length >= 0 && w.written+int64(n) > w.length:
		return http.ErrContentLength
	}
	w.written += int64(n)
	return nil
}

// findType makes up a Content-Type from the first bytes of the body.
func (w *response) findType(p []byte) {
	if !w.sniff || len(p) == 0 {
		return
	}
	w.sniff = false
	o := w.out()
	found := http.DetectContentType(p)
	w.conn().sent.found = found
	o.buf = append(append(append(o.buf, "Content-Type: "...), found...), "\r\n"...)
	w.fields = len(o.buf)
}

// put sends a part of the body with its framing, or keeps it until more has
// come.
func (w *response) put(p []byte) error {
	o := w.out()
	switch {
	case w.framing != chunkedBody && o.fits(len(p)):
		o.buf = append(o.buf, p...)
	case w.framing != chunkedBody:
		w.failure = o.flushWith(p, false)
	case o.fits(len(p) + chunkRoom + chunkTail):
		o.buf = appendChunk(o.buf, p)
	default:
		o.buf = append(strconv.AppendInt(o.buf, int64(len(p)), 16), "\r\n"...)
		w.failure = o.flushWith(p, true)
	}
	return w.failure
}

// Flush is FlushError for those who do not care.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError sends what has been written so far.
func (w *response) FlushError() error {
	if err := w.accept(0); err != nil {
		return err
	}
	if !w.decided {
		w.decide(w.streamed())
	}
	w.failure = w.out().flush()
	return w.failure
}

// finish sends the rest of the response when the handler has returned. It
// returns true if the client has the whole of it.
func (w *response) finish() bool {
	if w.hijacked {
		return false
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.decided {
		w.decide(w.ended())
	}
	w.finishChunks()
	if w.failure == nil || !isWriteError(w.failure) {
		w.failure = w.out().flush()
	}
	w.close()
	cut := w.framing == lengthBody && w.written < w.length
	return w.failure == nil && !cut
}

// abandon ends the response where it is.
func (w *response) abandon() {
	if w.decided && w.framing == untilClose {
		w.conn().reset()
	}
	w.close()
}

// close ends the handler's use of the connection.
func (w *response) close() {
	c := w.conn()
	w.over.Store(true)
	c.out.end()
	if w.timed && !w.hijacked && !c.reading.expired() && !c.writing.expired() {
		_ = c.conn.SetDeadline(time.Time{}) // fails on a closed connection
	}
}

func (w *response) finishChunks() {
	if w.framing != chunkedBody || w.failure != nil {
		return
	}
	o := w.out()
	whole := len(o.buf)
	buf, err := appendLastChunk(o.buf, w.trailer())
	if err != nil {
		w.conn().server.log.Error("trailer fields cannot be sent", "error", err)
		buf, _ = appendLastChunk(o.buf[:whole], nil) // nothing in it can be wrong
	}
	o.buf = buf
}

// trailer collects the fields that the handler has announced, and those that
// it has named with http.TrailerPrefix.
func (w *response) trailer() http.Header {
	var t http.Header
	put := func(name string, values []string) {
		if t == nil {
			t = http.Header{}
		}
		t[name] = append(t[name], values...)
	}
	for _, name := range w.trailers {
		if values := w.header[name]; len(values) > 0 {
			put(name, values)
		}
	}
	for key, values := range w.header {
		if name, found := strings.CutPrefix(key, http.TrailerPrefix); found {
			put(http.CanonicalHeaderKey(name), values)
		}
	}
	return t
}

func (w *response) hasTrailers() bool {
	for key := range w.header {
		if strings.HasPrefix(key, http.TrailerPrefix) {
			return true
		}
	}
	return false
}

// announcedTrailers are the names in Trailer fields that may be used.
func announcedTrailers(values []string) []string {
	var names []string
	for _, value := range values {
		for member := range members(value) {
			if name := http.CanonicalHeaderKey(member); headers.IsToken(name) && !forbiddenTrailer(name) {
				names = append(names, name)
			}
		}
	}
	return names
}
