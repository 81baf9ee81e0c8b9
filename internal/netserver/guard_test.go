package netserver_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/leaktest"
	"github.com/gozer-gateway/gozer/internal/netserver"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const evil = "GET /evil HTTP/1.1\r\nHost: g\r\n\r\n"

// serve serves a handler behind Guard that lets its answers begin at once.
func serve(t *testing.T, h http.HandlerFunc) net.Conn {
	t.Helper()
	b := httptest.NewServer(netserver.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		h(w, r)
	})))
	t.Cleanup(b.Close)
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", b.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, c io.Writer, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

// wantOne fails the test unless there is just one answer before the connection ends.
func wantOne(t *testing.T, c io.Reader) {
	t.Helper()
	all, err := io.ReadAll(c)
	if os.IsTimeout(err) || strings.Count(string(all), "HTTP/1.1 ") != 1 {
		t.Errorf("got %q, %v", all, err)
	}
	if !strings.Contains(string(all), "\r\nConnection: close\r\n") {
		t.Errorf("the end of the connection is not announced as it should: %q", all)
	}
}

func TestAnswerBeforeTheEndOfTheBody(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "early") })
	write(t, c, "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 4\r\n\r\nab")
	wantOne(t, c)
}

func TestBodyFailsWithinTheAnswer(t *testing.T) {
	t.Parallel()
	began, failed := make(chan struct{}), make(chan error, 1)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		close(began)
		_, err := io.ReadAll(r.Body)
		failed <- err
	})
	write(t, c, "POST / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n")
	<-began
	write(t, c, "zz\r\n"+evil)
	wantOne(t, c)
	if err := <-failed; err == nil {
		t.Error("a malformed body was read")
	}
}

// A body that has been read costs nothing.
func TestConnectionIsKeptBehindAWholeBody(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(sent)
	})
	write(t, c, "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 4\r\n\r\nabcd"+strings.Replace(evil, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
	all, err := io.ReadAll(c)
	if err != nil || strings.Count(string(all), "HTTP/1.1 200 OK") != 2 {
		t.Errorf("got %q, %v", all, err)
	}
}

// Somebody closes the body while the response ends, as net/http's client does.
func TestBodyIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]func(io.ReadCloser){
		"closed": func(b io.ReadCloser) { _ = b.Close() },
		"read":   func(b io.ReadCloser) { _, _ = io.Copy(io.Discard, b) },
	} {
		t.Run(name, func(t *testing.T) {
			left := make(chan struct{})
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				touching := make(chan struct{})
				go func() {
					defer close(left)
					_, _ = io.ReadFull(r.Body, make([]byte, 2))
					close(touching)
					touch(r.Body)
				}()
				<-touching
				_, _ = io.WriteString(w, "early")
			})
			write(t, c, "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: "+"200000\r\n\r\nab")
			<-left
			_, _ = io.WriteString(c, strings.Repeat(evil, 3)) // the connection may be closed
			wantOne(t, c)
		})
	}
}

// halfway is a handler that gives its response up.
func halfway(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "half")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// A response that is given up ends at once, whatever the client has still to send.
func TestAbortDoesNotAwaitTheBody(t *testing.T) {
	t.Parallel()
	c := serve(t, halfway)
	write(t, c, "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 4\r\n\r\nab")
	if all, err := io.ReadAll(c); os.IsTimeout(err) || strings.HasSuffix(string(all), "0\r\n\r\n") {
		t.Errorf("got %q, %v", all, err)
	}
}

// An orderly end would make half a response look complete to a client of HTTP/1.0.
func TestAbortIsNoOrderlyEnd(t *testing.T) {
	t.Parallel()
	c := serve(t, halfway)
	write(t, c, "GET / HTTP/1.0\r\n\r\n")
	if all, err := io.ReadAll(c); err == nil || os.IsTimeout(err) {
		t.Errorf("got %q, %v", all, err)
	}
}
