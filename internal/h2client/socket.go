package h2client

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The types of frames that a socket looks for.
const (
	frameHead     = 9
	frameSettings = 4
	frameGoAway   = 7
	flagAck       = 1
)

var (
	errNotHTTP2   = errors.New("the server does not speak HTTP/2")
	errNoSettings = errors.New("the server did not greet in time")
)

// socket is the connection under net/http's HTTP/2. It looks at the heads of the frames
// that come in, since net/http tells neither when the server's first SETTINGS have come
// nor that the server is about to go.
type socket struct {
	net.Conn
	frames frames // of the one goroutine that reads

	ready   chan struct{} // closed when the first SETTINGS have been dealt with
	once    sync.Once
	gone    chan struct{} // closed with the socket
	closing sync.Once
	strange atomic.Bool // the server speaks something else
	leaving atomic.Bool // the server takes no further requests
}

func newSocket(c net.Conn) *socket {
	return &socket{Conn: c, ready: make(chan struct{}), gone: make(chan struct{})}
}

// Read is called again when what it has returned before has been dealt with.
func (s *socket) Read(p []byte) (int, error) {
	if s.frames.complete > 0 {
		s.once.Do(func() { close(s.ready) })
	}
	n, err := s.Conn.Read(p)
	s.frames.scan(p[:n], s.look)
	if s.strange.Load() {
		return 0, errNotHTTP2
	}
	return n, err
}

// look learns the head of a frame.
func (s *socket) look(first bool, kind, flags byte) {
	switch {
	case first && (kind != frameSettings || flags&flagAck != 0):
		s.strange.Store(true)
	case kind == frameGoAway:
		s.leaving.Store(true)
	}
}

func (s *socket) Close() error {
	s.closing.Do(func() { close(s.gone) })
	return s.Conn.Close()
}

// greeted waits for the server's first SETTINGS.
func (s *socket) greeted(ctx context.Context, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var err error
	select {
	case <-s.ready:
		return nil
	case <-s.gone:
		err = net.ErrClosed
	case <-timer.C:
		err = errNoSettings
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if s.strange.Load() {
		err = errNotHTTP2
	}
	return err
}

// frames follows the frames in a stream of bytes.
type frames struct {
	head     [frameHead]byte
	have     int // bytes of head
	rest     int // bytes of the payload still to come
	seen     int // heads
	complete int // frames
}

func (f *frames) scan(p []byte, look func(first bool, kind, flags byte)) {
	for len(p) > 0 {
		if f.have < frameHead {
			n := copy(f.head[f.have:], p)
			f.have, p = f.have+n, p[n:]
			if f.have < frameHead {
				return
			}
			f.rest = int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
			look(f.seen == 0, f.head[3], f.head[4])
			f.seen++
		}
		n := min(f.rest, len(p))
		f.rest, p = f.rest-n, p[n:]
		if f.rest == 0 {
			f.have = 0
			f.complete++
		}
	}
}
