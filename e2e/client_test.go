package e2e_test

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// answer is a response that has been read to its end.
type answer struct {
	Status  int
	Header  http.Header
	Trailer http.Header
	Length  int64 // as announced, -1 if not
	Body    string
}

// newClient returns a client with connections of its own, which end with the test.
func newClient(tb testing.TB) *http.Client {
	tb.Helper()
	rt := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	tb.Cleanup(rt.CloseIdleConnections)
	return &http.Client{
		Transport:     rt,
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send makes one request on a new connection and reads the answer.
func send(ctx context.Context, method, url string, header http.Header, body io.Reader) (*answer, error) {
	rt := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	defer rt.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	res, err := rt.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return read(res)
}

// read reads a response to its end.
func read(res *http.Response) (*answer, error) {
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return &answer{res.StatusCode, res.Header, res.Trailer, res.ContentLength, string(body)}, err
}

func (g *gateway) tryGet(url string) (*answer, error) {
	return send(g.tb.Context(), http.MethodGet, url, nil, nil)
}

// Do sends a request through the gateway; header lines are "Name: value".
func (g *gateway) Do(method, target, body string, headerLines ...string) *answer {
	g.tb.Helper()
	header := http.Header{}
	for _, line := range headerLines {
		name, value, _ := strings.Cut(line, ": ")
		header[name] = append(header[name], value)
	}
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	a, err := send(g.tb.Context(), method, g.URL(target), header, content)
	if err != nil {
		g.tb.Fatalf("%s %s: %v", method, target, err)
	}
	return a
}

// Get is Do for the commonest case.
func (g *gateway) Get(target string, headerLines ...string) *answer {
	g.tb.Helper()
	return g.Do(http.MethodGet, target, "", headerLines...)
}

// wantStatus fails the test if the status is another one.
func (a *answer) wantStatus(tb testing.TB, want int) *answer {
	tb.Helper()
	if a.Status != want {
		tb.Errorf("status %d, want %d; body: %.300s", a.Status, want, a.Body)
	}
	return a
}

// dial opens a connection that ends with the test and on which nothing waits for ever.
func dial(tb testing.TB, addr string) *net.TCPConn {
	tb.Helper()
	var d net.Dialer
	c, err := d.DialContext(tb.Context(), "tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		tb.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// write sends exact bytes.
func write(tb testing.TB, c net.Conn, s string) {
	tb.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		tb.Fatal(err)
	}
}

// wire writes exact bytes and reads the answer to them, a response to a request with that
// method. The connection is used for nothing else.
func (g *gateway) wire(method, request string) *answer {
	g.tb.Helper()
	c := dial(g.tb, g.Proxy)
	write(g.tb, c, request)
	return nextAnswer(g.tb, bufio.NewReader(c), method)
}

// nextAnswer reads one response from a connection.
func nextAnswer(tb testing.TB, r *bufio.Reader, method string) *answer {
	tb.Helper()
	res, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		tb.Fatalf("no response: %v", err)
	}
	a, err := read(res)
	if err != nil {
		tb.Fatalf("response cut short: %v", err)
	}
	return a
}

// lines joins the lines of a message head and ends it.
func lines(l ...string) string { return strings.Join(l, "\r\n") + "\r\n\r\n" }

// target sends a GET with exactly this request target.
func (g *gateway) target(t string) *answer {
	g.tb.Helper()
	return g.wire(http.MethodGet, lines("GET "+t+" HTTP/1.1", "Host: gateway.test", "Connection: close"))
}
