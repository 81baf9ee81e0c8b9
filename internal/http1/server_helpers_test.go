package http1_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// engine is what both servers have in common.
type engine interface {
	Serve(l net.Listener) error
	Close() error
}

// serving starts a server on a loopback address and returns that.
func serving(tb testing.TB, s engine) string {
	tb.Helper()
	return servingOn(tb, s, listen(tb).l)
}

func servingOn(tb testing.TB, s engine, l net.Listener) string {
	tb.Helper()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	tb.Cleanup(func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			tb.Errorf("Serve returned %v", err)
		}
	})
	return l.Addr().String()
}

// answering serves a handler with our server.
func answering(tb testing.TB, h http.HandlerFunc) string {
	tb.Helper()
	return serving(tb, &http1.Server{Handler: h})
}

// rawConn is a client that knows nothing of HTTP.
type rawConn struct {
	tb   testing.TB
	conn *net.TCPConn
}

func dialRaw(tb testing.TB, addr string) *rawConn {
	tb.Helper()
	var d net.Dialer
	conn, err := d.DialContext(tb.Context(), "tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		tb.Fatal(err)
	}
	return &rawConn{tb, conn.(*net.TCPConn)}
}

func (c *rawConn) send(text string) {
	c.tb.Helper()
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.tb.Fatalf("sending: %v", err)
	}
}

// expect reads what should come next.
func (c *rawConn) expect(want string) {
	c.tb.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c.conn, got)
	if string(got[:n]) != want {
		c.tb.Fatalf("received %q (%v), want %q", got[:n], err, want)
	}
}

// until reads up to and including a text.
func (c *rawConn) until(end string) string {
	c.tb.Helper()
	var got []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(got, []byte(end)) {
		if _, err := io.ReadFull(c.conn, one); err != nil {
			c.tb.Fatalf("received %q and then %v, want %q", got, err, end)
		}
		got = append(got, one[0])
	}
	return undated(string(got))
}

// rest reads until the server closes.
func (c *rawConn) rest() string {
	c.tb.Helper()
	got, err := io.ReadAll(c.conn)
	if err != nil {
		c.tb.Fatalf("received %q and then %v", got, err)
	}
	return undated(string(got))
}

// closed fails the test unless the connection ends without another byte.
func (c *rawConn) closed() {
	c.tb.Helper()
	if got, err := io.ReadAll(c.conn); len(got) > 0 || isTimeout(err) {
		c.tb.Fatalf("received %q and then %v, want the end", got, err)
	}
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded)
}

var dateLine = regexp.MustCompile(`Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n`)

// undated takes out the Date fields, which must be well formed for that.
func undated(text string) string { return dateLine.ReplaceAllString(text, "") }

// exchange sends text on a new connection and returns what comes back until the
// server closes, so text has to make it close.
func exchange(tb testing.TB, addr, text string) string {
	tb.Helper()
	c := dialRaw(tb, addr)
	c.send(text)
	return c.rest()
}

// crlf writes every line end of text as CRLF.
func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// get is a request that keeps the connection, lastGet one that closes it.
const (
	get     = "GET / HTTP/1.1\r\nHost: g.test\r\n\r\n"
	lastGet = "GET / HTTP/1.1\r\nHost: g.test\r\nConnection: close\r\n\r\n"
)

var statusLine = regexp.MustCompile(`HTTP/1\.[01] (\d{3}) `)

// statuses lists the status codes of a stream of responses.
func statuses(stream string) string {
	var list []string
	for _, found := range statusLine.FindAllStringSubmatch(stream, -1) {
		list = append(list, found[1])
	}
	return strings.Join(list, " ")
}
