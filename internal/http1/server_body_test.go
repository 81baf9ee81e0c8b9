package http1_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/http1"
)

func TestServerContinue(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
	t.Run("http S31 C073 the body is asked for when it is read", func(t *testing.T) {
		reading := make(chan struct{})
		addr := answering(t, func(w http.ResponseWriter, r *http.Request) {
			<-reading
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body)
		})
		c := dialRaw(t, addr)
		c.send(head)
		close(reading)
		c.expect("HTTP/1.1 100 Continue\r\n\r\n")
		c.send("abc")
		if got := c.until("abc"); statuses(got) != "200" {
			t.Errorf("received %q", got)
		}
		c.send(lastGet)
		if got := c.rest(); statuses(got) != "200" {
			t.Errorf("the connection was not kept: %q", got)
		}
	})
	t.Run("http S31 an early answer instead", func(t *testing.T) {
		addr := answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
		want := "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
		if got := exchange(t, addr, head); got != want {
			t.Errorf("received %q", got)
		}
	})
	t.Run("C073 d HTTP/1.0", func(t *testing.T) {
		addr := answering(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
		if got := exchange(t, addr, strings.Replace(head, "1.1", "1.0", 1)+"abc"); statuses(got) != "200" {
			t.Errorf("received %q", got)
		}
	})
}

func TestServerUnreadBody(t *testing.T) {
	ignore := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }
	t.Run("http M46 a small one is read over", func(t *testing.T) {
		got := exchange(t, answering(t, ignore), "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\n\r\nGET /"+
			"POST / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n"+lastGet)
		if statuses(got) != "413 413 413" {
			t.Errorf("received %q", got)
		}
	})
	t.Run("http M46 a closed one is read over", func(t *testing.T) {
		got := exchange(t, answering(t, func(_ http.ResponseWriter, r *http.Request) {
			_ = r.Body.Close()
			if n, err := r.Body.Read(make([]byte, 8)); n > 0 || r.ContentLength > 0 && !errors.Is(err, http.ErrBodyReadAfterClose) {
				t.Errorf("%d bytes and %v", n, err)
			}
		}), "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\n\r\nGET /"+lastGet)
		if statuses(got) != "200 200" {
			t.Errorf("received %q", got)
		}
	})
	t.Run("http M46 a broken one ends the connection", func(t *testing.T) {
		got := exchange(t, answering(t, ignore), "POST / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n"+get)
		if statuses(got) != "413" {
			t.Errorf("received %q", got)
		}
	})
	t.Run("http M50 C073 b C235 the answer to a large one can be read", func(t *testing.T) {
		c := dialRaw(t, answering(t, ignore))
		c.send("POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 52428800\r\n\r\n")
		block := strings.Repeat("x", 1<<20)
		for range 50 { // all of it, before a look at the answer
			c.send(block)
		}
		if got := c.rest(); statuses(got) != "413" || !strings.Contains(got, "Connection: close") {
			t.Errorf("received %q", got)
		}
	})
}

// TestServerLateReader C073 b: an answer is readable even though a goroutine of
// the handler's is in the middle of reading the body.
func TestServerLateReader(t *testing.T) {
	over := make(chan error, 1)
	c := dialRaw(t, answering(t, func(w http.ResponseWriter, r *http.Request) {
		read := make(chan struct{})
		go func() {
			one := make([]byte, 1)
			_, _ = r.Body.Read(one)
			close(read)
			_, err := r.Body.Read(one)
			over <- err
		}()
		<-read
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	c.send("POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\na")
	if got := c.until("\r\n\r\n"); statuses(got) != "413" {
		t.Errorf("received %q", got)
	}
	if err := <-over; err == nil {
		t.Error("the late reader got something")
	}
	c.send("bcdefghij" + get) // no reset, and no answer
	c.closed()
}

func TestServerBodyInPieces(t *testing.T) {
	const request = "POST /a HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n"
	t.Run("http M40 S03", func(t *testing.T) {
		c := dialRaw(t, answering(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
			_, _ = io.WriteString(w, r.Trailer.Get("X-Sum"))
		}))
		for _, b := range []byte(request) {
			c.send(string(b)) // TCP_NODELAY: a packet each
		}
		if got := c.rest(); !strings.HasSuffix(got, "abcde1") {
			t.Errorf("received %q", got)
		}
	})
}

func TestServerRequestIsOver(t *testing.T) {
	type left struct {
		w    http.ResponseWriter
		body io.ReadCloser
		ctx  context.Context //nolint:containedctx // what the handler has seen
	}
	behind := make(chan left, 1)
	addr := answering(t, func(w http.ResponseWriter, r *http.Request) { behind <- left{w, r.Body, r.Context()} })
	c := dialRaw(t, addr)
	c.send("POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\n\r\nabc")
	l := <-behind
	c.until("\r\n\r\n")
	<-l.ctx.Done()
	derived, cancel := context.WithCancel(l.ctx)
	defer cancel()
	<-derived.Done()
	if n, err := l.body.Read(make([]byte, 8)); n > 0 || !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("%d bytes of the body and %v", n, err)
	}
	if _, err := io.WriteString(l.w, "late"); err == nil {
		t.Error("a late write went somewhere")
	}
	l.w.Header().Set("X-Late", "1")
	c.send(lastGet)
	if got := c.rest(); statuses(got) != "200" || strings.Contains(got, "ate") {
		t.Errorf("received %q", got)
	}
}

// TestServerFailures shows that a response that is not complete never looks so.
func TestServerFailures(t *testing.T) {
	tests := map[string]struct {
		handler http.HandlerFunc
		in      string
		want    string // the beginning of what is received
		reset   bool
	}{
		"http M43 a length not reached": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "10")
				_, _ = io.WriteString(w, "abc")
			}, get, "HTTP/1.1 200 OK", false,
		},
		"http M43 aborted chunks": {
			func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "abc")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}, get, "HTTP/1.1 200 OK", false,
		},
		"http M43 aborted until close": {
			func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "abc")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}, "GET / HTTP/1.0\r\n\r\n", "", true,
		},
		"a panic before the head": {
			func(http.ResponseWriter, *http.Request) { panic("oops") }, get, "", false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := dialRaw(t, answering(t, test.handler))
			c.send(test.in)
			got, err := io.ReadAll(c.conn)
			if !strings.HasPrefix(string(got), test.want) || test.want == "" && len(got) > 0 && !test.reset {
				t.Errorf("received %q, want %q", got, test.want)
			}
			if (err != nil) != test.reset || strings.HasSuffix(string(got), "0\r\n\r\n") {
				t.Errorf("%q ended with %v", got, err)
			}
		})
	}
	t.Run("http M28 a length exceeded", func(t *testing.T) {
		got := exchange(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "2")
			if _, err := io.WriteString(w, "abc"); !errors.Is(err, http.ErrContentLength) {
				t.Errorf("error %v", err)
			}
			_, _ = io.WriteString(w, "ab")
			if _, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader("c")); !errors.Is(err, http.ErrContentLength) {
				t.Errorf("error %v", err)
			}
		}), lastGet)
		if !strings.HasSuffix(got, "\r\n\r\nab") {
			t.Errorf("received %q", got)
		}
	})
	t.Run("a client that never stops", func(t *testing.T) {
		c := dialRaw(t, answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }))
		c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000000000\r\n\r\n")
		block := make([]byte, 1<<20)
		for sent := range 1 << 10 {
			if _, err := c.conn.Write(block); err != nil {
				t.Logf("read over: %d MiB", sent)
				return
			}
		}
		t.Error("a GiB is read over after the answer")
	})
	t.Run("a client that has left", func(t *testing.T) {
		failed := make(chan error, 1)
		c := dialRaw(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
			block := make([]byte, 1<<20)
			for {
				if _, err := w.Write(block); err != nil {
					failed <- err
					return
				}
			}
		}))
		c.send(get)
		_ = c.conn.SetLinger(0)
		_ = c.conn.Close()
		if _, ok := errors.AsType[*http1.WriteError](<-failed); !ok {
			t.Error("not a WriteError")
		}
	})
}
