package http1_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// TestServerStreams C109 C112: what the source has sent is with the client
// before the source goes on.
func TestServerStreams(t *testing.T) {
	const events = 5
	tests := map[string]func(w http.ResponseWriter, src io.Reader){
		"Write and Flush": func(w http.ResponseWriter, src io.Reader) {
			buf := make([]byte, 100)
			for {
				n, err := src.Read(buf)
				if err != nil {
					return
				}
				_, _ = w.Write(buf[:n])
				_ = http.NewResponseController(w).Flush()
			}
		},
		"ReadFrom": func(w http.ResponseWriter, src io.Reader) {
			_ = http.NewResponseController(w).Flush()
			_, _ = io.Copy(w, src)
		},
	}
	for name, relay := range tests {
		for version, chunked := range map[string]bool{"1.1": true, "1.0": false} {
			t.Run("C109 C112 "+name+" HTTP/"+version, func(t *testing.T) {
				src, feed := io.Pipe()
				c := dialRaw(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					relay(w, src)
				}))
				c.send("GET / HTTP/" + version + "\r\nHost: g\r\n\r\n")
				for n := range events {
					event := fmt.Sprintf("data: %d\n\n", n)
					_, _ = io.WriteString(feed, event)
					if n == 0 {
						c.until("\r\n\r\n")
					}
					if chunked {
						event = fmt.Sprintf("%x\r\n%s\r\n", len(event), event)
					}
					c.expect(event)
				}
				_ = feed.Close()
				if chunked {
					c.expect("0\r\n\r\n")
				} else {
					c.closed()
				}
			})
		}
	}
}

// TestServerCopies sends bodies of all sizes in all ways and compares what
// arrives.
func TestServerCopies(t *testing.T) {
	sources := map[string]func(b []byte) io.Reader{
		"at once":        func(b []byte) io.Reader { return bytes.NewReader(b) },
		"byte by byte":   func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b[:min(len(b), 300)])) },
		"data with EOF":  func(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) },
		"half the space": func(b []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(b)) },
	}
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	addr := answering(t, func(w http.ResponseWriter, r *http.Request) {
		var size int
		var how, framing string
		_, _ = fmt.Sscan(r.Header.Get("X-Body"), &size, &framing)
		how = r.Header.Get("X-Source")
		h := w.Header()
		h["Content-Type"] = nil
		h.Set("X-Long", strings.Repeat("y", size%9000))
		src := sources[how](data[:size])
		sent, _ := io.ReadAll(sources[how](data[:size]))
		h.Set("X-Hash", fmt.Sprintf("%x", sha256.Sum256(sent)))
		switch framing {
		case "length":
			h.Set("Content-Length", strconv.Itoa(len(sent)))
			_, _ = io.Copy(w, src)
		case "chunked":
			_, _ = io.Copy(w, src)
		case "writes":
			for len(sent) > 0 {
				n := min(len(sent), 1+len(sent)/3)
				_, _ = w.Write(sent[:n])
				sent = sent[n:]
			}
		}
	})
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	for how := range sources {
		for _, framing := range []string{"length", "chunked", "writes"} {
			for _, size := range []int{0, 1, 4000, 4096, 9000, 65536, 70000, 300000} {
				req := newRequest(t.Context(), t, http.MethodGet, "http://"+addr, nil)
				req.Header.Set("X-Body", fmt.Sprint(size, " ", framing))
				req.Header.Set("X-Source", how)
				res, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if got := fmt.Sprintf("%x", sha256.Sum256(body)); err != nil || got != res.Header.Get("X-Hash") {
					t.Errorf("%s, %s, %d bytes: %d received, %v", how, framing, size, len(body), err)
				}
			}
		}
	}
}

// relaying is a small proxy of both sides of this package. outcome receives
// what the copy of each body gave.
func relaying(t *testing.T, upstream string, s *http1.Server) (addr string, outcome chan error) {
	t.Helper()
	transport := newTransport(t, http1.TransportSettings{})
	outcome = make(chan error, 1)
	note := func(err error) {
		select {
		case outcome <- err:
		default: // nobody wants to know
		}
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, _ := http.NewRequestWithContext(r.Context(), r.Method, "http://"+upstream+r.RequestURI, http.NoBody)
		res, err := transport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			note(err)
			return
		}
		defer func() { _ = res.Body.Close() }()
		maps.Copy(w.Header(), res.Header)
		w.WriteHeader(res.StatusCode)
		_, err = w.(io.ReaderFrom).ReadFrom(res.Body)
		note(err)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	})
	return serving(t, s), outcome
}

// TestServerRelays moves bodies from sockets to sockets.
func TestServerRelays(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	upstream := answering(t, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Content-Type"] = nil
		switch r.URL.Path {
		case "/short":
			h.Set("Content-Length", "2000000")
		case "/length":
			h.Set("Content-Length", strconv.Itoa(len(body)))
		case "/hints":
			h.Set("Link", "</a>")
			h.Set("Keep-Alive", "x")
			w.WriteHeader(http.StatusEarlyHints)
			h.Del("Keep-Alive")
		}
		_, _ = io.WriteString(w, body)
	})
	addr, outcome := relaying(t, upstream, &http1.Server{WriteTimeout: 10 * time.Second})
	ask := func(path string) *rawConn {
		c := dialRaw(t, addr)
		c.send("GET " + path + " HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n")
		return c
	}
	t.Run("length", func(t *testing.T) {
		_, got, _ := strings.Cut(ask("/length").rest(), "\r\n\r\n")
		if got != body || <-outcome != nil {
			t.Errorf("%d bytes", len(got))
		}
	})
	t.Run("http M34 chunked", func(t *testing.T) {
		got := ask("/chunked").rest()
		if len(got) < len(body) || !strings.HasSuffix(got, "\r\n0\r\n\r\n") || <-outcome != nil {
			t.Errorf("%d bytes", len(got))
		}
	})
	t.Run("http M43 the upstream stops in the middle", func(t *testing.T) {
		c := ask("/short")
		got, _ := io.ReadAll(c.conn)
		if err := <-outcome; !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes and %v", len(got), err)
		}
	})
	t.Run("http S43 interim responses", func(t *testing.T) {
		got := ask("/hints").rest()
		if statuses(got) != "103 200" || strings.Contains(got, "Keep-Alive") || <-outcome != nil {
			t.Errorf("received %.200q", got)
		}
	})
	endless := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5000000000")
		_, _ = io.Copy(w, zeros{})
	})
	t.Run("a client that stalls", func(t *testing.T) {
		addr, outcome := relaying(t, endless, &http1.Server{WriteTimeout: 300 * time.Millisecond})
		dialRaw(t, addr).send(get)
		if err := <-outcome; !isWrite(err) {
			t.Errorf("the copy ended with %v", err)
		}
	})
	t.Run("an upstream that pauses for longer than a client may", func(t *testing.T) {
		slow := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = io.WriteString(w, body[:len(body)/2])
			_ = http.NewResponseController(w).Flush() // the client sees it
			<-time.After(1500 * time.Millisecond)
			_, _ = io.WriteString(w, body[len(body)/2:])
		})
		addr, outcome := relaying(t, slow, &http1.Server{WriteTimeout: time.Second})
		c := dialRaw(t, addr)
		c.send(lastGet)
		if got := c.rest(); <-outcome != nil || !strings.HasSuffix(got, body) {
			t.Errorf("%d bytes", len(got))
		}
	})
	t.Run("a client that leaves", func(t *testing.T) {
		addr, outcome := relaying(t, endless, &http1.Server{})
		for _, reset := range []bool{true, false} {
			c := dialRaw(t, addr)
			c.send(get)
			if got := c.until("\r\n\r\n"); !strings.Contains(got, "Content-Length: 5000000000\r\n") {
				t.Errorf("C066 received %q", got)
			}
			if reset {
				_ = c.conn.SetLinger(0)
			}
			_ = c.conn.Close()
			if err := <-outcome; !isWrite(err) && !errors.Is(err, context.Canceled) {
				t.Errorf("C113 the copy ended with %v", err)
			}
		}
	})
	t.Run("C126 a client that leaves while the upstream thinks", func(t *testing.T) {
		h := newWaiting()
		addr, outcome := relaying(t, serving(t, &http1.Server{Handler: h}), &http1.Server{})
		c := dialRaw(t, addr)
		c.send(get)
		<-h.entered
		start := time.Now()
		_ = c.conn.Close()
		if err := <-outcome; !errors.Is(err, context.Canceled) {
			t.Errorf("the call ended with %v", err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func isWrite(err error) bool {
	_, ok := errors.AsType[*http1.WriteError](err)
	return ok
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
