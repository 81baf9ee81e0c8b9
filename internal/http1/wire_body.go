package http1

import (
	"errors"
	"io"
	"net/http"
)

// body reads the body of one message off a connection. It belongs to one
// goroutine and is reused from message to message. An *Error of it has the
// status for a request.
type body struct {
	src     *reader
	framing framing
	left    int64 // bytes of the message, or of the current chunk
	chunk   chunkState
	debt    int64 // bytes of chunk headers beyond what the data earned
	seen    int   // bytes of the buffered line that have been examined

	trailerBytes, trailerLines int

	trailer *http.Header
	limits  *Limits
	err     error // io.EOF once the body is complete, or its failure
}

var _ io.Reader = (*body)(nil)

// reset starts the body whose head has just been consumed. Trailer fields are
// merged into *trailer, which may be nil or point to nil.
func (b *body) reset(src *reader, f framing, length int64, trailer *http.Header, l *Limits) {
	*b = body{src: src, framing: f, left: max(length, 0), trailer: trailer, limits: l}
	if f == noBody {
		b.err = io.EOF
	}
	if f == chunkedBody {
		b.left = 0
	}
}

// complete reports whether the whole body has been read, so that the next
// message begins where it ended.
func (b *body) complete() bool { return b.err == io.EOF } //nolint:errorlint // set by this file only

// Read returns io.EOF at the end of the body and io.ErrUnexpectedEOF if the
// connection ended before.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	var n int
	switch b.framing {
	case chunkedBody:
		n, b.err = b.readChunked(p)
	case untilClose:
		n, b.err = b.src.Read(p)
	default:
		n, b.err = b.readLength(p)
	}
	return n, b.err
}

func (b *body) readLength(p []byte) (int, error) {
	n, err := b.src.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == nil && b.left == 0 {
		err = io.EOF
	} else if err != nil {
		err = unexpected(err)
	}
	return n, err
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// remaining returns how many bytes of a body of known length are still to be
// read, false for other bodies.
func (b *body) remaining() (int64, bool) {
	return b.left, b.framing == lengthBody && b.err == nil
}

// advance counts n bytes that were moved from the connection itself. Nothing
// may be buffered then.
func (b *body) advance(n int64) {
	if b.left -= n; b.left == 0 {
		b.err = io.EOF
	}
}

// discardBuffered reads what has been received already and reports whether the
// body is complete then. It never waits.
func (b *body) discardBuffered() bool {
	for b.err == nil && len(b.src.buffered()) > 0 {
		if !b.skip() {
			break
		}
	}
	return b.complete()
}

// skip consumes buffered bytes and reports whether it got anywhere.
func (b *body) skip() bool {
	switch b.framing {
	case lengthBody:
		n := min(b.left, int64(len(b.src.buffered())))
		b.src.discard(int(n))
		b.advance(n)
		return true
	case chunkedBody:
		return b.skipChunked()
	default:
		return false
	}
}
