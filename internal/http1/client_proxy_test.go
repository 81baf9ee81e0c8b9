package http1_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
)

// proxy starts a Server that passes everything on through a Transport.
func proxy(t *testing.T, to string) (addr string) {
	t.Helper()
	transport := newTransport(t, http1.TransportSettings{ReadTimeout: time.Minute})
	server := &http1.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pass(w, r, transport, to)
	})}
	u := listen(t)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(u.l) // http.ErrServerClosed
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return u.l.Addr().String()
}

func pass(w http.ResponseWriter, r *http.Request, transport http.RoundTripper, to string) {
	out := *r.URL
	out.Scheme, out.Host = "http", to
	req := r.WithContext(r.Context())
	req.URL = &out
	if r.ContentLength == 0 {
		req.Body = nil
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	maps.Copy(w.Header(), res.Header)
	w.WriteHeader(res.StatusCode)
	if _, err := w.(io.ReaderFrom).ReadFrom(res.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func TestBodiesThroughServerAndTransport(t *testing.T) {
	content := make([]byte, 3<<20)
	_, _ = rand.Read(content)
	for name, tt := range map[string]struct {
		body   io.Reader
		answer http.HandlerFunc
	}{
		"known lengths": {bytes.NewReader(content), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", r.Header.Get("Content-Length"))
			all, _ := io.ReadAll(r.Body)
			_, _ = w.Write(all)
		}},
		"chunked, both ways at once": {anyReader{bytes.NewReader(content)}, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			_, _ = io.Copy(w, r.Body)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := backendtest.Start(t, tt.answer)
			client := newTransport(t, http1.TransportSettings{ReadTimeout: time.Minute})
			a := roundTrip(t, client, newRequest(t.Context(), t, "POST", "http://"+proxy(t, b.Addr), tt.body))
			if a.err != nil || a.body != string(content) {
				t.Errorf("%d bytes came back, %v; want the %d sent", len(a.body), a.err, len(content))
			}
		})
	}
}

// C113, C126: the upstream's connection ends with the client's, whatever it is
// at.
func TestClientLeaves(t *testing.T) {
	for name, reply := range map[string]string{
		"C126 before the head": "",
		"C113 in a stream":     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
		"C113 in a long body":  "HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\nok",
	} {
		t.Run(name, func(t *testing.T) {
			u := listen(t)
			ended := make(chan bool)
			asked := make(chan struct{})
			go func() {
				p := u.accept()
				p.await("\r\n\r\n")
				p.send(reply)
				close(asked)
				ended <- p.ended()
			}()
			client, err := new(net.Dialer).DialContext(t.Context(), "tcp", proxy(t, u.l.Addr().String()))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: g\r\n\r\n")
			<-asked
			client.Close()
			if !<-ended {
				t.Error("the upstream's connection is still open after a second")
			}
		})
	}
}

// The answer breaks off while the request is still being read: the goroutine that
// reads it must be done before its buffer serves somebody else.
func TestBrokenAnswerDuringAnUpload(t *testing.T) {
	u := listen(t)
	go func() {
		for p := u.accept(); p != nil; p = u.accept() {
			p.await("\r\n\r\n")
			p.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
			p.await("0\r\n")
			p.Close()
		}
	}()
	addr, client := proxy(t, u.l.Addr().String()), newTransport(t, http1.TransportSettings{})
	for range 20 {
		r, w := io.Pipe()
		go func() {
			for range 100 {
				_, _ = w.Write(bytes.Repeat([]byte("0\r\n"), 1000))
			}
		}()
		a := roundTrip(t, client, newRequest(t.Context(), t, "POST", "http://"+addr, r))
		if a.err == nil && a.StatusCode == http.StatusOK { // it may have been lost on its way, with the reset
			t.Errorf("a broken answer is complete: %q", a.body)
		}
		r.Close()
	}
}

// C073: an early refusal reaches a client that is still sending.
func TestEarlyRefusalThroughServerAndTransport(t *testing.T) {
	u := listen(t)
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
		_ = p.ended()
	}()
	client := newTransport(t, http1.TransportSettings{})
	req := newRequest(t.Context(), t, "POST", "http://"+proxy(t, u.l.Addr().String()), io.NopCloser(endless{}))
	req.ContentLength = 50 << 20
	if a := roundTrip(t, client, req); a.err != nil || a.StatusCode != http.StatusRequestEntityTooLarge || a.body != "no" {
		t.Errorf("got %v, %q, %v", a.Response, a.body, a.err)
	}
}

func TestInterimThroughServerAndTransport(t *testing.T) {
	raw := replies(t, "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"+okReply)
	var got strings.Builder
	ctx := http1.WithInterim(context.WithoutCancel(t.Context()), func(_ int, h http.Header) { got.WriteString(h.Get("Link")) })
	roundTrip(t, newTransport(t, http1.TransportSettings{}), newRequest(ctx, t, "GET", "http://"+proxy(t, raw.Addr), http.NoBody)).wantOK(t)
	if got.String() != "a" {
		t.Errorf("S43 hints %q, want a", got.String())
	}
}
