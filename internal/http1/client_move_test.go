package http1_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// pair returns the two ends of a connection.
func pair(t *testing.T) (near *net.TCPConn, far *peer) {
	t.Helper()
	u := listen(t)
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", u.l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn), u.accept()
}

// large starts a server that sends content, after it has announced it and been
// told to go on, and returns the body.
func large(t *testing.T, s http1.TransportSettings, content []byte, announced int) *http1.Body {
	t.Helper()
	u := listen(t)
	head := make(chan struct{})
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send("HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(announced) + "\r\n\r\n")
		<-head
		_, _ = p.Write(content)
		if len(content) < announced && s.ReadTimeout == 0 {
			p.Close()
		}
	}()
	res, err := newTransport(t, s).RoundTrip(newRequest(t.Context(), t, "GET", u.url(), http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	close(head)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res.Body.(*http1.Body)
}

func moveAll(body *http1.Body, dst *net.TCPConn) (moved int64, readErr, writeErr error) {
	for readErr == nil && writeErr == nil {
		left, ok := body.Movable()
		if !ok {
			return moved, nil, nil
		}
		var n int64
		n, readErr, writeErr = body.Move(dst, min(left, 64<<10))
		moved += n
	}
	return moved, readErr, writeErr
}

func TestMove(t *testing.T) {
	content := make([]byte, 1<<20)
	_, _ = rand.Read(content)
	body := large(t, http1.TransportSettings{}, content, len(content))
	if _, ok := body.Movable(); !ok {
		t.Skip("not on this system")
	}
	near, far := pair(t)
	received := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(far)
		received <- all
	}()
	moved, readErr, writeErr := moveAll(body, near)
	near.Close()
	if moved != int64(len(content)) || !errors.Is(readErr, io.EOF) || writeErr != nil {
		t.Errorf("moved %d bytes, %v, %v", moved, readErr, writeErr)
	}
	if !bytes.Equal(<-received, content) {
		t.Error("the bytes are not those sent")
	}
	if _, ok := body.Movable(); ok {
		t.Error("there is more to move")
	}
}

func TestBrokenMoves(t *testing.T) {
	tests := []struct {
		name    string
		content int
		timeout time.Duration
		spoil   func(near *net.TCPConn, far *peer)
		read    error // nil: it is the client that fails
	}{
		{"M43 server cuts the body", 300_000, 0, func(*net.TCPConn, *peer) {}, io.ErrUnexpectedEOF},
		{"server pauses", 300_000, 2500 * time.Millisecond, func(*net.TCPConn, *peer) {}, http1.ErrReadTimeout},
		{"client has gone", 1 << 20, 0, func(_ *net.TCPConn, far *peer) { _ = far.SetLinger(0); far.Close() }, nil},
		{"client stalls", 64 << 20, time.Minute, func(near *net.TCPConn, _ *peer) { _ = near.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := large(t, http1.TransportSettings{ReadTimeout: tt.timeout}, make([]byte, tt.content), 128<<20)
			if _, ok := body.Movable(); !ok {
				t.Skip("not on this system")
			}
			near, far := pair(t)
			if tt.read != nil {
				go func() { _, _ = io.Copy(io.Discard, far) }()
			}
			tt.spoil(near, far)
			_, readErr, writeErr := moveAll(body, near)
			if !errors.Is(readErr, tt.read) || (writeErr == nil) != (tt.read != nil) {
				t.Errorf("ended with %v, %v", readErr, writeErr)
			}
		})
	}
}
