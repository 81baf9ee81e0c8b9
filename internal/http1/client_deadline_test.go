package http1_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
)

// C122, C126: when its request ends, a connection is closed at once, whatever
// it is waiting for.
func TestEndOfTheRequest(t *testing.T) {
	stages := map[string]struct {
		reply string
		body  int64 // of the request
	}{
		"before the head":       {},
		"in the head":           {reply: "HTTP/1.1 200 OK\r\n"},
		"in the body":           {reply: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"},
		"in an event stream":    {reply: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata"},
		"in a tunnel":           {reply: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nok"},
		"in an upload":          {body: 64 << 20},
		"between interim heads": {reply: "HTTP/1.1 103 Early Hints\r\n\r\n"},
	}
	ends := map[string]struct {
		begin func(context.Context) (context.Context, func())
		want  error
	}{
		"interrupter": {http1.InterruptibleContext, context.Canceled},
		"done": {
			func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) },
			context.Canceled,
		},
		"derived from an interruptible one": {
			func(ctx context.Context) (context.Context, func()) {
				ctx, _ = http1.InterruptibleContext(ctx)
				return context.WithCancel(ctx)
			},
			context.Canceled,
		},
		"deadline": {
			func(ctx context.Context) (context.Context, func()) {
				ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
				context.AfterFunc(ctx, cancel)
				return ctx, func() {}
			},
			context.DeadlineExceeded,
		},
	}
	for stage, at := range stages {
		for name, end := range ends {
			t.Run("C122 "+stage+" by "+name, func(t *testing.T) {
				u, transport := listen(t), newTransport(t, http1.TransportSettings{ReadTimeout: time.Minute, MaxTotal: 1})
				ctx, over := end.begin(t.Context())
				closed := make(chan bool, 1)
				go func() {
					p := u.accept()
					if p == nil { // a slow machine: the deadline came before the connection
						closed <- true
						return
					}
					p.await("\r\n\r\n")
					p.send(at.reply)
					time.AfterFunc(20*time.Millisecond, over)
					closed <- at.body > 0 || p.ended()
				}()
				req := newRequest(ctx, t, "GET", u.url(), nil)
				req.Header.Set("Upgrade", "test")
				if at.body > 0 {
					req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, at.body))), at.body
				}
				if a := roundTrip(t, transport, req); !errors.Is(a.err, end.want) {
					t.Errorf("ended with %v, want %v", a.err, end.want)
				}
				u.l.Close()
				if !<-closed {
					t.Error("the connection stays open")
				}
				b := backendtest.Start(t, backendtest.Answer(200, "ok"))
				fetch(t, transport, "GET", b.URL()).wantOK(t) // the place is free again
			})
		}
	}
}

// A request that has ended before it began reaches nobody.
func TestRequestThatIsOver(t *testing.T) {
	ctx, over := http1.InterruptibleContext(t.Context())
	over()
	b := backendtest.Start(t, backendtest.Answer(200, "ok"))
	a := roundTrip(t, newTransport(t, http1.TransportSettings{}), newRequest(ctx, t, "GET", b.URL(), http.NoBody))
	if !errors.Is(a.err, context.Canceled) || b.Connections() != 0 {
		t.Errorf("error %v after %d connections", a.err, b.Connections())
	}
}

// Nor does one whose context only Done tells about, though a connection is ready.
func TestCancelledRequestOnAWarmConnection(t *testing.T) {
	b := backendtest.Start(t, backendtest.Answer(200, "ok"))
	transport := newTransport(t, http1.TransportSettings{})
	fetch(t, transport, "GET", b.URL()).wantOK(t)
	cause := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for range 20 {
		if a := roundTrip(t, transport, newRequest(ctx, t, "GET", b.URL(), http.NoBody)); !errors.Is(a.err, cause) || !nothingSent(a.err) {
			t.Fatalf("error %v", a.err)
		}
	}
	fetch(t, transport, "GET", b.URL()).wantOK(t)
	if b.Requests() != 2 || b.Connections() != 1 {
		t.Errorf("%d requests on %d connections, want 2 on 1", b.Requests(), b.Connections())
	}
}

// The end of a request that is over does not touch the next one on the same
// connection.
func TestLateEndOfARequest(t *testing.T) {
	b := backendtest.Start(t, backendtest.Answer(200, "ok"))
	transport := newTransport(t, http1.TransportSettings{})
	for range 20 {
		ctx, over := http1.InterruptibleContext(t.Context())
		roundTrip(t, transport, newRequest(ctx, t, "GET", b.URL(), http.NoBody)).wantOK(t)
		go over()
	}
	if n := b.Connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// C107: a server that cannot be reached costs no more than the connect timeout.
func TestConnectTimeout(t *testing.T) {
	transport := newTransport(t, http1.TransportSettings{ConnectTimeout: 50 * time.Millisecond})
	u := listen(t) // never completes a handshake
	start := time.Now()
	a := fetch(t, transport, "GET", "https://"+u.l.Addr().String())
	if took := time.Since(start); !nothingSent(a.err) || took > 20*time.Second {
		t.Errorf("error %v after %v", a.err, took)
	}
}

// A server that takes nothing of a large request for too long is given up.
func TestStalledUpload(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{ReadTimeout: 2500 * time.Millisecond}) // the head leaves in that time
	req := newRequest(t.Context(), t, "POST", u.url(), bytes.NewReader(make([]byte, 64<<20)))
	if a := roundTrip(t, transport, req); !errors.Is(a.err, http1.ErrReadTimeout) || nothingSent(a.err) {
		t.Errorf("error %v, want the read timeout", a.err)
	}
}

// A body may be closed while it is read.
func TestCloseDuringRead(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{ReadTimeout: time.Minute})
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
	}()
	res, err := transport.RoundTrip(newRequest(t.Context(), t, "GET", u.url(), http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = res.Body.Close() })
	if _, err := res.Body.Read(make([]byte, 1)); err == nil || errors.Is(err, http1.ErrReadTimeout) {
		t.Errorf("read ended with %v", err)
	}
}
