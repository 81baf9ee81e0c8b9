package h2

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// prefaceSize is the length of the client preface.
	prefaceSize = 24
	// readAhead is what is read of a connection at a time, at least: frame heads are short.
	readAhead = 4 << 10
	// lastWord is how long the client has to take the GOAWAY of a connection that is cut.
	lastWord = time.Second
	// lastRead is how much is read over meanwhile, so that the reset of a connection with unread
	// data does not overtake the GOAWAY.
	lastRead = 16 << 20
)

// conn is a client's connection with a guard in front of it.
type conn struct {
	net.Conn
	in     *bufio.Reader
	guard  guard
	secure bool

	received frames
	writing  sync.Mutex // guards sent
	sent     frames

	once   sync.Once
	closed chan struct{}
}

// newConn puts the bytes that were read ahead in front of the connection again.
func newConn(c net.Conn, ahead []byte, s *Settings) *conn {
	return &conn{
		Conn:   c,
		in:     bufio.NewReaderSize(io.MultiReader(bytes.NewReader(ahead), c), readAhead),
		guard:  guard{resetLimit: s.Resets, controlLimit: s.Control, continuationLimit: s.Continuations, interval: s.Interval},
		closed: make(chan struct{}), received: frames{preface: prefaceSize},
	}
}

// secureConn is one over TLS. net/http asks it about that.
type secureConn struct {
	*conn
	state tls.ConnectionState
}

func (c *secureConn) ConnectionState() tls.ConnectionState { return c.state }

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if !c.received.scan(p[:n], c.guard.received) {
		return 0, errFlood
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	n, err := c.Conn.Write(p)
	c.sent.scan(p[:n], c.guard.sent)
	return n, err
}

// Close leaves the end of the connection to serve. A client that has sent too much is told so.
func (c *conn) Close() error {
	c.once.Do(func() {
		defer close(c.closed)
		if flood, last := c.guard.verdict(); flood != "" {
			c.calm(flood, last)
			return
		}
		_ = c.Conn.Close() // net/http has written all that it wanted to
	})
	return nil
}

// calm ends the server's side of a connection with GOAWAY, unless something else is stuck there.
func (c *conn) calm(flood string, last uint32) {
	if !c.writing.TryLock() {
		_ = c.Conn.Close() // the client does not read
		return
	}
	defer c.writing.Unlock()
	_ = c.SetDeadline(time.Now().Add(lastWord)) // fails on a closed connection, as the write does
	if !c.sent.whole() {
		return
	}
	if _, err := c.Conn.Write(enhanceYourCalm(last, "too many "+flood)); err == nil {
		c.closeWrite()
	}
}

func (c *conn) closeWrite() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // nobody is left to be told
	}
}

// end waits for the end of the connection.
func (c *conn) end() {
	<-c.closed
	if flood, _ := c.guard.verdict(); flood != "" {
		_, _ = io.CopyN(io.Discard, c.Conn, lastRead) // until the client closes it, or the deadline
	}
	_ = c.Conn.Close()
}

// enhanceYourCalm is a GOAWAY frame (RFC 9113 6.8).
func enhanceYourCalm(last uint32, why string) []byte {
	const code = 0xb
	size := 8 + len(why)
	b := append(make([]byte, 0, headSize+size), byte(size>>16), byte(size>>8), byte(size), frameGoAway, 0, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, last)
	b = binary.BigEndian.AppendUint32(b, code)
	return append(b, why...)
}
