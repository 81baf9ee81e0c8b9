package http1_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
)

const okReply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// newTransport waits longer than anything should take, unless the settings say otherwise.
func newTransport(tb testing.TB, s http1.TransportSettings) *http1.Transport {
	tb.Helper()
	s.ConnectTimeout, s.ReadTimeout = cmp.Or(s.ConnectTimeout, time.Minute), cmp.Or(s.ReadTimeout, time.Minute)
	transport := http1.NewTransport(s)
	transport.AwaitLastWrites(time.Minute)
	tb.Cleanup(transport.CloseIdle)
	return transport
}

func newRequest(ctx context.Context, tb testing.TB, method, url string, body io.Reader) *http.Request {
	tb.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		tb.Fatal(err)
	}
	return req
}

// answer is a response read to its end.
type answer struct {
	*http.Response
	body string
	err  error // of RoundTrip, or else of the body
}

func roundTrip(tb testing.TB, transport http.RoundTripper, req *http.Request) answer {
	tb.Helper()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{res, string(body), err}
}

func fetch(tb testing.TB, transport http.RoundTripper, method, url string) answer {
	tb.Helper()
	return roundTrip(tb, transport, newRequest(tb.Context(), tb, method, url, http.NoBody))
}

func (a answer) wantOK(tb testing.TB) {
	tb.Helper()
	if a.err != nil || a.StatusCode != http.StatusOK || a.body != "ok" {
		tb.Fatalf("got %v, %q, %v; want 200 and ok", a.Response, a.body, a.err)
	}
}

func (a answer) wantRefused(tb testing.TB) {
	tb.Helper()
	var refused *http1.Error
	if !errors.As(a.err, &refused) || refused.Status != http.StatusBadGateway {
		tb.Fatalf("got %v, %q, %v; want an *Error with 502", a.Response, a.body, a.err)
	}
}

// replies starts a Raw that gives one reply per request head.
func replies(tb testing.TB, all ...string) *backendtest.Raw {
	tb.Helper()
	steps := make([]backendtest.Step, len(all))
	for i, reply := range all {
		steps[i].Reply = reply
	}
	return backendtest.StartRaw(tb, steps...)
}

// replyAndClose is replies for one reply at whose end the connection ends.
func replyAndClose(tb testing.TB, reply string) *backendtest.Raw {
	tb.Helper()
	return backendtest.StartRaw(tb, backendtest.Step{Reply: reply, Close: true})
}

// upstream is a server in the hands of the test.
type upstream struct {
	tb testing.TB
	l  net.Listener
}

func listen(tb testing.TB) *upstream {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return &upstream{tb, l}
}

func (u *upstream) url() string { return "http://" + u.l.Addr().String() }

// accept returns the next connection, or nil when the test is over.
func (u *upstream) accept() *peer {
	c, err := u.l.Accept()
	if err != nil {
		return nil
	}
	u.tb.Cleanup(func() { c.Close() })
	return &peer{TCPConn: c.(*net.TCPConn)}
}

// peer is the server's end of a connection.
type peer struct {
	*net.TCPConn
	seen string
}

// await reads until mark has come and returns all up to its end.
func (p *peer) await(mark string) string {
	buf := make([]byte, 4096)
	for !strings.Contains(p.seen, mark) {
		n, err := p.Read(buf)
		p.seen += string(buf[:n])
		if err != nil {
			return ""
		}
	}
	end := strings.Index(p.seen, mark) + len(mark)
	head := p.seen[:end]
	p.seen = p.seen[end:]
	return head
}

func (p *peer) send(reply string) { _, _ = io.WriteString(p, reply) }

// ended reports that the client has closed the connection.
func (p *peer) ended() bool {
	_ = p.SetReadDeadline(time.Now().Add(20 * time.Second))
	_, err := io.Copy(io.Discard, p)
	var timeout net.Error
	return !errors.As(err, &timeout) || !timeout.Timeout()
}

func nothingSent(err error) bool {
	var unsent interface{ NothingSent() bool }
	return errors.As(err, &unsent) && unsent.NothingSent()
}
