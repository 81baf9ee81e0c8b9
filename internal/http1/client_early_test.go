package http1

import (
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A deadline that an earlier exchange has left behind does not end a later one,
// whichever way the connection is written to or read.
func TestEarlierDeadlinesAreNotDue(t *testing.T) {
	for name, use := range map[string]func(c *clientConn) error{
		"write": func(c *clientConn) error { _, err := c.write([]byte("x")); return err },
		"read":  func(c *clientConn) error { _, err := c.Read(make([]byte, 1)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				defer near.Close()
				defer far.Close()
				c := newClientConn(near, newBuffers(), time.Now())
				exchange := func(patience time.Duration) {
					c.begin(t.Context(), nil, time.Now(), patience)
					c.arm(c.deadline())
				}
				exchange(time.Second)
				<-time.After(900 * time.Millisecond)
				exchange(time.Second)
				start := time.Now()
				err := use(c)
				if took := time.Since(start); !isDeadline(err) || took != time.Second {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

func isDeadline(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // not wrapped
	return ok && timeout.Timeout()
}

// recording is a connection that knows which deadlines it was given.
type recording struct {
	net.Conn
	writing bool
}

func (r *recording) SetDeadline(time.Time) error      { r.writing = true; return nil }
func (r *recording) SetWriteDeadline(time.Time) error { r.writing = true; return nil }
func (*recording) SetReadDeadline(time.Time) error    { return nil }
func (*recording) Read([]byte) (int, error)           { return 0, os.ErrDeadlineExceeded }

// A look at what comes, while an upload goes on beside it, leaves the upload its
// time.
func TestWaitingLeavesAnUploadAlone(t *testing.T) {
	conn := &recording{}
	c := newClientConn(conn, newBuffers(), time.Now())
	c.begin(t.Context(), nil, time.Now(), time.Second)
	c.beExact()
	conn.writing = false
	if !c.silentFor(time.Millisecond) {
		t.Error("something came")
	}
	if conn.writing {
		t.Error("writes got another deadline")
	}
}
