package http1_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// unverified accepts any certificate.
func unverified() *tlsout.Client {
	return tlsout.New(tlsout.Options{Settings: tlsout.Settings{SkipVerify: true}})
}

// corked gathers what is written while it holds.
type corked struct {
	net.Conn
	hold bool
	kept []byte
}

func (c *corked) Write(p []byte) (int, error) {
	c.kept = append(c.kept, p...)
	if c.hold {
		return len(p), nil
	}
	_, err := c.Conn.Write(c.kept)
	c.kept = nil
	return len(p), err
}

// secureReplies answers each request on each connection with the next reply. A
// NUL in it separates records that leave in one packet. end, if not nil, ends
// the connection after the first.
func secureReplies(t *testing.T, end func(*tls.Conn), all ...string) (url string, connections func() int) {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	t.Cleanup(certified.Close)
	u := listen(t)
	accepted := 0
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			raw, err := u.l.Accept()
			if err != nil {
				return
			}
			accepted++
			serveSecure(&corked{Conn: raw}, certified.TLS, end, all)
		}
	}()
	t.Cleanup(func() { u.l.Close(); <-served })
	return "https://" + u.l.Addr().String(), func() int { u.l.Close(); <-served; return accepted }
}

func serveSecure(raw *corked, config *tls.Config, end func(*tls.Conn), all []string) {
	defer raw.Close()
	c := tls.Server(raw, config)
	p := make([]byte, 4096)
	for _, reply := range all {
		if _, err := c.Read(p); err != nil {
			return
		}
		first, second, two := strings.Cut(reply, "\x00")
		raw.hold = two
		_, _ = io.WriteString(c, first)
		raw.hold = false
		_, _ = io.WriteString(c, second)
		if end != nil {
			end(c)
			return
		}
	}
	_, _ = c.Read(p)
}

// M54: a body that ends with the connection is complete only if the session was
// ended properly.
func TestEndOfASession(t *testing.T) {
	const reply = "HTTP/1.1 200 OK\r\n\r\nok"
	transport := newTransport(t, http1.TransportSettings{TLS: unverified()})
	url, _ := secureReplies(t, func(c *tls.Conn) { _ = c.CloseWrite() }, reply)
	fetch(t, transport, "GET", url).wantOK(t)

	url, _ = secureReplies(t, func(c *tls.Conn) { _ = c.NetConn().(*corked).Conn.(*net.TCPConn).CloseWrite() }, reply)
	if a := fetch(t, transport, "GET", url); !errors.Is(a.err, io.ErrUnexpectedEOF) {
		t.Errorf("M54 a body that may have been cut is complete: %q, %v", a.body, a.err)
	}
}

func TestReuseOverTLS(t *testing.T) {
	for name, tt := range map[string]struct {
		reply string
		want  int
	}{
		"clean":                         {okReply, 1},
		"C098 surplus in the record":    {okReply + "x", 3},
		"C098 surplus in a later one":   {okReply + "\x00" + okReply, 3},
		"M53 server closes the session": {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 3},
	} {
		t.Run(name, func(t *testing.T) {
			transport := newTransport(t, http1.TransportSettings{TLS: unverified()})
			url, connections := secureReplies(t, nil, tt.reply, tt.reply, tt.reply)
			for range 3 {
				fetch(t, transport, "GET", url).wantOK(t)
			}
			transport.CloseIdle()
			if n := connections(); n != tt.want {
				t.Errorf("%d connections for 3 requests, want %d", n, tt.want)
			}
		})
	}
}
