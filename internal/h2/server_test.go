package h2_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/h2"
)

const patience = 20 * time.Second

// served is a server that gets its connections from a listener.
type served struct {
	*h2.Server
	addr string
}

func serve(t *testing.T, s h2.Settings) served {
	t.Helper()
	server := h2.NewServer(context.Background(), s)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Serve(); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { server.ServeConn(c, nil, nil) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		server.Close()
		running.Wait()
	})
	return served{server, l.Addr().String()}
}

// dial opens a connection on which the settings have been sent.
func (s served) dial(t *testing.T) (net.Conn, *http2.Framer) {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fr := http2.NewFramer(c, c)
	fr.AllowIllegalWrites = true
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	must(t, fr.WriteSettings())
	return c, fr
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open sends the head of the first request.
func open(t *testing.T, fr *http2.Framer, path string) {
	t.Helper()
	var block strings.Builder
	e := hpack.NewEncoder(&block)
	for _, f := range []hpack.HeaderField{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "a"}, {Name: ":path", Value: path}} {
		must(t, e.WriteField(f))
	}
	must(t, fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(block.String()), EndHeaders: true, EndStream: true}))
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// held answers when the client has gone.
func held(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestConnectionsLeaveNoGoroutines(t *testing.T) {
	s := serve(t, h2.Settings{Handler: http.HandlerFunc(held), Control: 10, WriteTimeout: time.Minute, IdleTimeout: time.Minute, HeaderTimeout: time.Minute})
	before := runtime.NumGoroutine()
	for name, end := range map[string]func(net.Conn, *http2.Framer){
		"idle": func(net.Conn, *http2.Framer) {},
		"held": func(_ net.Conn, fr *http2.Framer) { open(t, fr, "/") },
		"reset": func(_ net.Conn, fr *http2.Framer) {
			open(t, fr, "/")
			must(t, fr.WriteRSTStream(1, http2.ErrCodeCancel))
		},
		"wrong":   func(_ net.Conn, fr *http2.Framer) { open(t, fr, "/"); must(t, fr.WriteWindowUpdate(5, 1)) },
		"refused": func(_ net.Conn, fr *http2.Framer) { open(t, fr, "/a b") },
		"too busy": func(_ net.Conn, fr *http2.Framer) {
			open(t, fr, "/")
			for range 20 {
				_ = fr.WritePing(false, [8]byte{}) // the connection may be gone by then
			}
		},
	} {
		for range 5 {
			c, fr := s.dial(t)
			end(c, fr)
			c.Close()
		}
		eventually(t, "the goroutines have ended: "+name, func() bool { return runtime.NumGoroutine() <= before })
	}
}

// A flood is answered with GOAWAY, and ends what the client has asked for.
func TestFloodEndsRequests(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, h2.Settings{Control: 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { held(w, r); close(ended) })})
	_, fr := s.dial(t)
	open(t, fr, "/")
	for range 11 {
		must(t, fr.WritePing(false, [8]byte{}))
	}
	var code http2.ErrCode
	for {
		f, err := fr.ReadFrame()
		if err != nil {
			break
		}
		if away, ok := f.(*http2.GoAwayFrame); ok {
			code = away.ErrCode
		}
	}
	if code != http2.ErrCodeEnhanceYourCalm {
		t.Errorf("GOAWAY with %v", code)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the request goes on")
	}
}

func TestNoConnectionsBehindShutdown(t *testing.T) {
	s := serve(t, h2.Settings{Handler: http.HandlerFunc(held)})
	must(t, s.Shutdown(t.Context()))
	one, other := net.Pipe()
	defer other.Close()
	s.ServeConn(one, nil, nil) // returns
	if _, err := other.Read(make([]byte, 1)); err == nil {
		t.Error("it is still open")
	}
}

// Requests know of the TLS of their connection, whatever their :scheme says.
func TestTLS(t *testing.T) {
	ca := certtest.NewCA(t, "CA")
	one, other := net.Pipe()
	server := h2.NewServer(context.Background(), h2.Settings{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || r.TLS.ServerName != "g.test" {
			w.WriteHeader(http.StatusTeapot)
		}
	})})
	var running sync.WaitGroup
	defer running.Wait()
	defer server.Close()
	running.Go(func() { _ = server.Serve() })
	running.Go(func() {
		c := tls.Server(one, &tls.Config{Certificates: []tls.Certificate{ca.Issue("g.test").TLS}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
		if err := c.HandshakeContext(context.Background()); err != nil {
			t.Error(err)
		}
		state := c.ConnectionState()
		server.ServeConn(c, nil, &state)
	})
	c := tls.Client(other, &tls.Config{RootCAs: ca.Pool(), ServerName: "g.test", NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	defer c.Close()
	must(t, c.SetDeadline(time.Now().Add(patience)))
	_, err := io.WriteString(c, http2.ClientPreface)
	must(t, err)
	fr := http2.NewFramer(c, c)
	fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	sent := make(chan error, 1)
	go func() { sent <- fr.WriteSettings() }()
	for {
		f, err := fr.ReadFrame()
		must(t, err)
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				must(t, <-sent)
				open(t, fr, "/")
			}
		case *http2.MetaHeadersFrame:
			if got := f.PseudoValue("status"); got != "200" {
				t.Errorf("status %s", got)
			}
			return
		}
	}
}
