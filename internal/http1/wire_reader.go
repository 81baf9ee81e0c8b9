package http1

import (
	"io"
	"net"
	"syscall"
)

// reader buffers what a connection sends. It belongs to one goroutine.
type reader struct {
	conn       net.Conn
	pool       *buffers
	buf        *buffer // nil while nothing is buffered and nobody reads
	start, end int     // the buffered bytes within buf

	socket  syscall.RawConn       // nil if there is none that can be watched
	receive func(fd uintptr) bool // receiveNow, bound once
	failure error                 // of receive
	one     [1]byte
}

// init puts the reader on a connection. Bytes and buffer of an earlier one must
// have been dropped.
func (r *reader) init(conn net.Conn, pool *buffers) {
	*r = reader{conn: conn, pool: pool}
	r.watchSocket()
}

// socketOf returns the socket under a plain connection, nil for all others.
func socketOf(conn net.Conn) syscall.RawConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	socket, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	return socket
}

// buffered returns what has been received and not consumed yet. It is valid
// until the next call of a method other than discard.
func (r *reader) buffered() []byte {
	if r.start == r.end {
		return nil
	}
	return r.buf.bytes[r.start:r.end]
}

// discard consumes n buffered bytes.
func (r *reader) discard(n int) {
	r.start += n
	if r.start == r.end {
		r.start, r.end = 0, 0
	}
}

// release gives the buffer back if there is nothing in it.
func (r *reader) release() {
	if r.start == r.end {
		r.drop()
	}
}

// drop gives the buffer back together with what it holds.
func (r *reader) drop() {
	if r.buf != nil {
		r.pool.put(r.buf)
		r.buf = nil
	}
	r.start, r.end = 0, 0
}

// await waits until at least one byte is buffered. It holds no buffer while it
// waits.
func (r *reader) await() error {
	if r.start < r.end {
		return nil
	}
	r.release()
	if r.socket == nil {
		return r.awaitByte()
	}
	r.failure = nil
	if err := r.socket.Read(r.receive); err != nil {
		return err
	}
	return r.failure
}

// awaitByte is await for connections that cannot tell whether they are readable.
func (r *reader) awaitByte() error {
	n, err := r.conn.Read(r.one[:])
	if n == 0 {
		return err
	}
	r.buf = r.pool.get(smallestBuffer)
	r.buf.bytes[0] = r.one[0]
	r.start, r.end = 0, 1
	return nil
}

// fill reads at least one byte more and makes room for it if needed.
func (r *reader) fill() error {
	r.makeRoom()
	n, err := readSome(r.conn, r.buf.bytes[r.end:])
	r.end += n
	return err
}

// readSome reads at least one byte or fails.
func readSome(conn net.Conn, p []byte) (int, error) {
	for range 100 {
		n, err := conn.Read(p)
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

func (r *reader) makeRoom() {
	switch {
	case r.buf == nil:
		r.buf = r.pool.get(smallestBuffer)
	case r.end < len(r.buf.bytes):
	case r.start > 0:
		r.end = copy(r.buf.bytes, r.buf.bytes[r.start:r.end])
		r.start = 0
	default:
		larger := r.pool.get(2 * len(r.buf.bytes))
		copy(larger.bytes, r.buf.bytes)
		r.pool.put(r.buf)
		r.buf = larger
	}
}

// Read serves what is buffered first. Large reads go past the buffer.
func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.start == r.end {
		if len(p) >= smallestBuffer {
			return readSome(r.conn, p)
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.buffered())
	r.discard(n)
	return n, nil
}
