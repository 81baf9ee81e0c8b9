package http1

import (
	"io"
	"sync"
	"time"
)

// Tunnel is the connection to a server that has switched protocols: the body of
// a response with status 101. One goroutine may read while another writes; any
// may close. There are no time limits but those that the caller sets, and the end
// of the request's context ends what blocks.
type Tunnel struct {
	conn  *clientConn
	early []byte // what came together with the head
	once  sync.Once
	lease lease
}

var _ io.ReadWriteCloser = (*Tunnel)(nil)

func newTunnel(l lease) *Tunnel {
	t := &Tunnel{conn: l.conn, lease: l}
	t.early = append(t.early, t.conn.reader.buffered()...)
	t.conn.reader.drop()
	t.conn.due = time.Time{}
	t.conn.beExact()
	return t
}

// Read returns what the server sends, from the first byte behind the head on.
func (t *Tunnel) Read(p []byte) (int, error) {
	if len(t.early) > 0 {
		n := copy(p, t.early)
		t.early = t.early[n:]
		return n, nil
	}
	n, err := t.conn.Conn.Read(p)
	return n, t.explain(err)
}

func (t *Tunnel) Write(p []byte) (int, error) {
	n, err := t.conn.Write(p)
	return n, t.explain(err)
}

// explain leaves the caller's own deadlines alone.
func (t *Tunnel) explain(err error) error {
	if err != nil && t.conn.broken.Load() {
		return explain(t.conn.ctx, err)
	}
	return err
}

// CloseWrite tells the server that no more will come.
func (t *Tunnel) CloseWrite() error {
	if half, ok := t.conn.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return t.Close()
}

// SetReadDeadline bounds reads, those under way included; see net.Conn. It cannot
// take back the end of the request.
func (t *Tunnel) SetReadDeadline(at time.Time) error {
	t.conn.armRead(at)
	return nil
}

// SetWriteDeadline bounds writes like SetReadDeadline does reads.
func (t *Tunnel) SetWriteDeadline(at time.Time) error {
	t.conn.armWrite(at)
	return nil
}

// Close closes the connection. It may be called again.
func (t *Tunnel) Close() error {
	t.once.Do(func() { t.lease.end(false) })
	return nil
}
