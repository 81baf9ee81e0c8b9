package http1

import (
	"errors"
	"io"
	"net/http"
)

// largestCopy is the size of the largest buffer for bodies that are copied.
const largestCopy = 64 << 10

func isWriteError(err error) bool {
	_, ok := errors.AsType[*WriteError](err)
	return ok
}

// ReadFrom sends src as body. What a read of src returns leaves at once, the
// first bytes together with the head; the bytes of an upstream's response of
// known length move from socket to socket where the system can do that. A
// failure of the client's is a *WriteError, one of src is returned as it is.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	if err := w.accept(0); err != nil {
		return 0, err
	}
	if w.isHead || noBodyStatus(w.status) || w.sniff {
		return io.Copy(onlyWriter{w}, src)
	}
	if !w.decided {
		w.decide(w.streamed())
	}
	return w.copyFrom(src)
}

// onlyWriter hides ReadFrom.
type onlyWriter struct{ io.Writer }

// copyFrom sends what src yields until it ends. What has arrived of the body
// with its head is copied in any case, and fits a buffer that is larger than
// the upstream's. After that the buffer grows with what src has to
// give at a time, so that many slow streams need little.
func (w *response) copyFrom(src io.Reader) (copied int64, err error) {
	copied, err = w.copyWith(src, 4*smallestBuffer, true)
	if err == nil {
		var moved int64
		moved, err = w.move(src)
		copied += moved
	}
	for size := smallestBuffer; err == nil; size = min(4*size, largestCopy) {
		var n int64
		n, err = w.copyWith(src, size, false)
		copied += n
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return copied, err
}

// copyWith uses a buffer of some size until a read fills it that could be
// larger, or once.
func (w *response) copyWith(src io.Reader, size int, once bool) (copied int64, err error) {
	pool := w.conn().server.pool
	lent := pool.get(size)
	defer pool.put(lent)
	for {
		n, full, err := w.passOn(src, lent.bytes)
		copied += int64(n)
		if err != nil || once || full && size < largestCopy {
			return copied, err
		}
	}
}

// passOn sends the output and what one read of src returns, in one write if
// possible. It returns how many bytes of the body it has accepted, whether they
// fill buf, and io.EOF at the end of src.
func (w *response) passOn(src io.Reader, buf []byte) (n int, full bool, err error) {
	o := w.out()
	head := len(o.buf)
	if head+chunkRoom+chunkTail > len(buf)/2 {
		if w.failure = o.flush(); w.failure != nil {
			return 0, false, w.failure
		}
		head = 0
	}
	start := head
	if w.framing == chunkedBody {
		start += chunkRoom
	}
	room := buf[start : len(buf)-chunkTail]
	if n, err = src.Read(room); n == 0 {
		return 0, false, err
	}
	if w.length >= 0 && w.written+int64(n) > w.length {
		return 0, false, http.ErrContentLength
	}
	w.written += int64(n)
	w.failure = w.send(buf, start, n, errors.Is(err, io.EOF))
	if w.failure != nil {
		err = w.failure
	}
	return n, n == len(room), err
}

// send sends the output, for which there is room in front of start, and the n
// bytes of the body at start. The last bytes of a body wait, if there are few,
// for what ends it.
func (w *response) send(buf []byte, start, n int, last bool) error {
	o := w.out()
	head := len(o.buf)
	if w.framing != chunkedBody {
		copy(buf, o.buf)
		o.buf = o.buf[:0]
		return o.write(buf[:start+n])
	}
	chunk := frameChunk(buf[head:], n)
	if last && o.fits(len(chunk)) {
		o.buf = append(o.buf, chunk...)
		return nil
	}
	gap := start + n + chunkTail - len(chunk) - head
	copy(buf[gap:], o.buf)
	o.buf = o.buf[:0]
	return o.write(buf[gap : start+n+chunkTail])
}
