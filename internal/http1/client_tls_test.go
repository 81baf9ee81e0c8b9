package http1_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// secureReplies answers each request on each connection with the next reply, in
// TLS records of one byte up to end bytes.
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
			serveSecure(tls.Server(raw, certified.TLS), end, all)
		}
	}()
	t.Cleanup(func() { u.l.Close(); <-served })
	return "https://" + u.l.Addr().String(), func() int { u.l.Close(); <-served; return accepted }
}

func serveSecure(c *tls.Conn, end func(*tls.Conn), all []string) {
	defer c.NetConn().Close()
	p := make([]byte, 4096)
	for _, reply := range all {
		if _, err := c.Read(p); err != nil {
			return
		}
		_, _ = io.WriteString(c, reply)
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
	transport := newTransport(t, http1.TransportSettings{SkipVerify: true})
	url, _ := secureReplies(t, func(c *tls.Conn) { _ = c.CloseWrite() }, reply)
	fetch(t, transport, "GET", url).wantOK(t)

	url, _ = secureReplies(t, func(c *tls.Conn) { _ = c.NetConn().(*net.TCPConn).CloseWrite() }, reply)
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
			transport := newTransport(t, http1.TransportSettings{SkipVerify: true})
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
