package h2

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"sync"
)

const (
	// prefaceSize is the length of the client preface.
	prefaceSize = 24
	// readAhead is what is read of a connection at a time, at least: frame heads are short.
	readAhead = 4 << 10
)

// conn is a client's connection with a guard in front of it.
type conn struct {
	net.Conn
	in    *bufio.Reader
	guard guard
	count *Count               // nil: nobody wants to know
	state *tls.ConnectionState // nil without TLS; net/http must not see it, or it expects ALPN

	received frames
	rest     []byte // of badFrame, once it has begun

	writing sync.Mutex // guards sent
	sent    frames

	once   sync.Once
	closed chan struct{}
}

// badFrame makes net/http end a connection with GOAWAY: SETTINGS cannot belong to a stream. A guard that
// has seen too much puts it behind the last frame of the client.
const badFrame = "\x00\x00\x00\x04\x00\x00\x00\x00\x01"

// newConn puts the bytes that were read ahead in front of the connection again.
func newConn(c net.Conn, ahead []byte, s *Settings) *conn {
	return &conn{
		Conn:  c,
		in:    bufio.NewReaderSize(io.MultiReader(bytes.NewReader(ahead), c), readAhead),
		guard: guard{resetLimit: s.Resets, controlLimit: s.Control, continuationLimit: s.Continuations, interval: s.Interval},
		count: s.Count, closed: make(chan struct{}), received: frames{preface: prefaceSize},
	}
}

func (c *conn) Read(p []byte) (int, error) {
	if c.received.whole() && c.guard.verdict() != noFlood {
		return c.readBadFrame(p)
	}
	n, err := c.in.Read(p)
	c.received.scan(p[:n], func(f frame) { c.count.received(f); c.guard.received(f) })
	return n, err
}

func (c *conn) readBadFrame(p []byte) (int, error) {
	if c.rest == nil {
		c.rest = []byte(badFrame)
	}
	if len(c.rest) == 0 {
		return 0, io.EOF // nobody reads behind it
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *conn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	kind := byte(frameData)
	flooded := c.guard.verdict() != noFlood
	c.sent.scan(p, func(f frame) {
		kind = f.kind
		c.guard.sent(f)
		if f.kind != frameGoAway || !flooded { // that of a flood is counted as such
			c.count.sent(f)
		}
	})
	if kind == frameGoAway && c.sent.whole() && c.guard.verdict() != noFlood {
		p = append(bytes.Clone(p[:len(p)-4]), enhanceYourCalm...)
	}
	return c.Conn.Write(p)
}

// enhanceYourCalm is the code of a GOAWAY, which is at its end, in the place of that for badFrame.
const enhanceYourCalm = "\x00\x00\x00\x0b"

// Close may be called more than once.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
