package http1

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// wireConns returns both ends of a connection.
func wireConns(t *testing.T, network string) (ours, peer net.Conn) {
	t.Helper()
	if network == "pipe" {
		ours, peer = net.Pipe()
	} else {
		l, err := new(net.ListenConfig).Listen(t.Context(), network, "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if peer, err = new(net.Dialer).DialContext(t.Context(), network, l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		if ours, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		_ = ours.Close()
		_ = peer.Close()
	})
	return ours, peer
}

func wireSend(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Error(err)
	}
}

func TestAwait(t *testing.T) {
	for _, network := range []string{"tcp", "pipe"} {
		t.Run(network, func(t *testing.T) {
			ours, peer := wireConns(t, network)
			var r reader
			r.init(ours, newBuffers())
			if sockets := network == "tcp"; (r.socket != nil) != sockets {
				t.Errorf("has a socket: %v", !sockets)
			}
			for _, text := range []string{"first", "second"} {
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					wireSend(t, peer, text)
				}()
				if err := r.await(); err != nil || r.buf == nil {
					t.Fatalf("buffer %v, %v", r.buf, err)
				}
				for len(r.buffered()) < len(text) {
					if err := r.fill(); err != nil {
						t.Fatal(err)
					}
				}
				<-sent
				if got := string(r.buffered()); got != text {
					t.Errorf("received %q, want %q", got, text)
				}
				r.discard(len(text))
				r.release()
				if r.buf != nil {
					t.Error("an idle reader holds a buffer")
				}
			}
			if err := peer.Close(); err != nil {
				t.Fatal(err)
			}
			if err := r.await(); !errors.Is(err, io.EOF) || r.buf != nil {
				t.Errorf("after the end: buffer %v, %v", r.buf, err)
			}
		})
	}
}

func TestAwaitEndsAtTheDeadline(t *testing.T) {
	for _, network := range []string{"tcp", "pipe"} {
		ours, _ := wireConns(t, network)
		var r reader
		r.init(ours, newBuffers())
		if err := ours.SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := r.await(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", network, err)
		}
	}
}

func TestAwaitWithBytesAtHand(t *testing.T) {
	r := wireReader("abc", 0)
	if err := r.fill(); err != nil {
		t.Fatal(err)
	}
	r.discard(1)
	if err := r.await(); err != nil || string(r.buffered()) != "bc" {
		t.Errorf("%q, %v", r.buffered(), err)
	}
	r.release()
	if string(r.buffered()) != "bc" {
		t.Errorf("release dropped bytes: %q", r.buffered())
	}
	r.drop()
	if r.buf != nil || r.buffered() != nil {
		t.Error("drop kept the buffer")
	}
}

func TestFillMakesRoom(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 3*smallestBuffer/16)
	r := wireReader(text, 0)
	for len(r.buffered()) < len(text) {
		if err := r.fill(); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(r.buffered()); got != text {
		t.Error("bytes changed as the buffer grew")
	}
	r = wireReader(text, smallestBuffer)
	for at := 0; at < len(text)-1; at += smallestBuffer - 1 { // one byte stays each time
		if err := r.fill(); err != nil {
			t.Fatal(err)
		}
		r.discard(min(smallestBuffer-1, len(r.buffered())))
	}
	if len(r.buf.bytes) != smallestBuffer {
		t.Errorf("the buffer grew to %d bytes", len(r.buf.bytes))
	}
}

type stuckConn struct{ net.Conn }

func (stuckConn) Read([]byte) (int, error) { return 0, nil }

func TestConnectionWithoutProgress(t *testing.T) {
	var r reader
	r.init(stuckConn{}, newBuffers())
	if err := r.fill(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v", err)
	}
}

func TestBuffers(t *testing.T) {
	pool := newBuffers()
	for size, want := range map[int]int{1: 4 << 10, 4 << 10: 4 << 10, 4<<10 + 1: 16 << 10, 1 << 20: 1 << 20, 1<<20 + 1: 1<<20 + 1} {
		b := pool.get(size)
		if len(b.bytes) != want {
			t.Errorf("%d bytes asked for, %d lent, want %d", size, len(b.bytes), want)
		}
		pool.put(b)
	}
}

func TestPeek(t *testing.T) {
	ours, peer := wireConns(t, "tcp")
	p := newProber(ours)
	if got := p.peek(); got != quiet {
		t.Errorf("new connection: %v", got)
	}
	wireSend(t, peer, "x")
	var r reader
	r.init(ours, newBuffers())
	if err := r.await(); err != nil { // so the byte has arrived, and now is gone
		t.Fatal(err)
	}
	if got := p.peek(); got != quiet {
		t.Errorf("all read: %v", got)
	}
	wireSend(t, peer, "y")
	r.drop()
	wait := func(want liveness) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Second); p.peek() != want; {
			if time.Now().After(deadline) {
				t.Fatalf("not %v within 5 s", want)
			}
		}
	}
	wait(readable)
	if err := r.await(); err != nil || string(r.buffered()) != "y" {
		t.Errorf("the look took bytes: %q, %v", r.buffered(), err)
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	wait(gone)
	_ = ours.Close()
	if got := p.peek(); got != gone {
		t.Errorf("closed by ourselves: %v", got)
	}
}

func TestPeekWithoutSocket(t *testing.T) {
	ours, _ := wireConns(t, "pipe")
	if got := newProber(ours).peek(); got != quiet {
		t.Errorf("a pipe: %v", got)
	}
}
