package http1_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// anyReader hides what a body is, so that its length is unknown.
type anyReader struct{ io.Reader }

func TestRequestBytes(t *testing.T) {
	tests := []struct {
		name, method, target string
		body                 io.Reader
		header               http.Header
		want                 string // HOST stands for the address
	}{
		{name: "M12 empty path", method: "GET", want: "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{name: "M12 empty path and query", method: "GET", target: "?a=b", want: "GET /?a=b HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{name: "S25 unknown method", method: "M-SEARCH", target: "/x", want: "M-SEARCH /x HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{name: "C067 GET", method: "GET", target: "/x", body: http.NoBody, want: "GET /x HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{name: "C067 DELETE", method: "DELETE", target: "/x", want: "DELETE /x HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{name: "C067 OPTIONS", method: "OPTIONS", target: "/x", want: "OPTIONS /x HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{name: "C067 empty POST", method: "POST", target: "/x", want: "POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n"},
		{
			name: "M35 C070 known length", method: "PUT", target: "/x", body: strings.NewReader("twenty-two bytes long!"),
			want: "PUT /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 22\r\n\r\ntwenty-two bytes long!",
		},
		{
			name: "C068 DELETE with a body", method: "DELETE", target: "/x", body: strings.NewReader(`{"a":1}`),
			want: "DELETE /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
		},
		{
			name: "S27 GET with a body of unknown length", method: "GET", target: "/x", body: anyReader{strings.NewReader("seven77")},
			want: "GET /x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nseven77\r\n0\r\n\r\n",
		},
		{
			name: "M28 one framing field", method: "POST", target: "/x", body: strings.NewReader("a"),
			header: http.Header{"Content-Length": {"9"}, "Transfer-Encoding": {"chunked"}},
			want:   "POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\n\r\na",
		},
		{
			name: "S02 order of values", method: "GET", target: "/x", header: http.Header{"X-A": {"2", "1"}},
			want: "GET /x HTTP/1.1\r\nHost: HOST\r\nX-A: 2\r\nX-A: 1\r\n\r\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, transport := listen(t), newTransport(t, http1.TransportSettings{})
			want := strings.ReplaceAll(tt.want, "HOST", u.l.Addr().String())
			got := make(chan string, 1)
			go func() { got <- record(u.accept(), len(want)) }()
			req := newRequest(t.Context(), t, tt.method, u.url()+tt.target, tt.body)
			if tt.header != nil {
				req.Header = tt.header
			}
			roundTrip(t, transport, req).wantOK(t)
			transport.CloseIdle()
			if got := <-got; got != want {
				t.Errorf("sent %q, want %q", got, want)
			}
		})
	}
}

// record answers when so many bytes have come, and returns all that come until
// the connection ends.
func record(p *peer, n int) string {
	first := make([]byte, n)
	n, _ = io.ReadFull(p, first)
	p.send(okReply)
	rest, _ := io.ReadAll(p)
	return string(first[:n]) + string(rest)
}

func TestRequestTrailers(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	got := make(chan string, 1)
	go func() {
		p := u.accept()
		sent := p.await("X-Sum: 7\r\n\r\n")
		p.send(okReply)
		got <- sent
	}()
	req := newRequest(t.Context(), t, "POST", u.url(), nil)
	req.Trailer = http.Header{"X-Sum": nil}
	req.ContentLength = -1
	req.Body = io.NopCloser(io.MultiReader(strings.NewReader("body"), readerFunc(func([]byte) (int, error) {
		req.Trailer["X-Sum"] = []string{"7"}
		return 0, io.EOF
	})))
	roundTrip(t, transport, req).wantOK(t)
	if sent, want := <-got, "Trailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 7\r\n\r\n"; !strings.HasSuffix(sent, want) {
		t.Errorf("M39 sent %q, want it to end in %q", sent, want)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestRequestsThatCannotBeSent(t *testing.T) {
	cause := errors.New("client gone")
	tests := map[string]struct {
		change func(*http.Request)
		want   error // nil: any
	}{
		"no URL":                 {change: func(r *http.Request) { r.URL = nil }},
		"no host":                {change: func(r *http.Request) { r.URL.Host = "" }},
		"ftp":                    {change: func(r *http.Request) { r.URL.Scheme = "ftp" }},
		"length without a body":  {change: func(r *http.Request) { r.ContentLength = 3 }},
		"S04 line end in value":  {change: func(r *http.Request) { r.Header["X-A"] = []string{"a\r\nb: c"} }},
		"C041 line end in host":  {change: func(r *http.Request) { r.Host = "a\r\nb: c" }},
		"M02 CR in the target":   {change: func(r *http.Request) { r.URL.Opaque = "/a\rb" }},
		"space in the target":    {change: func(r *http.Request) { r.URL.Opaque = "/a b" }},
		"invalid name":           {change: func(r *http.Request) { r.Header["X A"] = []string{"a"} }},
		"invalid method":         {change: func(r *http.Request) { r.Method = "G T" }},
		"C131 body is too short": {change: setBody(strings.NewReader("ab"), 3)},
		"body fails":             {change: setBody(readerFunc(func([]byte) (int, error) { return 0, cause }), 3), want: cause},
		"C131 long body too short": {
			change: setBody(bytes.NewReader(make([]byte, 99_999)), 100_000),
		},
		"long body fails": {
			change: setBody(io.MultiReader(bytes.NewReader(make([]byte, 99_999)), readerFunc(func([]byte) (int, error) { return 0, cause })), 100_000),
			want:   cause,
		},
		"chunked body fails": {change: setBody(readerFunc(func([]byte) (int, error) { return 0, cause }), -1), want: cause},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			raw, transport := replies(t), newTransport(t, http1.TransportSettings{ReadTimeout: time.Minute})
			req := newRequest(t.Context(), t, "GET", "http://"+raw.Addr, nil)
			tt.change(req)
			a := roundTrip(t, transport, req)
			if a.err == nil || tt.want != nil && !errors.Is(a.err, tt.want) {
				t.Fatalf("error %v, want %v", a.err, tt.want)
			}
			if nothingSent(a.err) {
				t.Error("another server would be tried")
			}
		})
	}
}

func setBody(body io.Reader, length int64) func(*http.Request) {
	return func(r *http.Request) { r.Method, r.Body, r.ContentLength = "POST", io.NopCloser(body), length }
}

// A request body is closed, whatever happens.
func TestRequestBodyIsClosed(t *testing.T) {
	for name, length := range map[string]int64{"short": 4, "chunked": -1} {
		for _, reachable := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				raw, transport := replies(t, okReply), newTransport(t, http1.TransportSettings{})
				url := "http://" + raw.Addr
				if !reachable {
					url = "http://127.0.0.1:1"
				}
				body := &closeable{Reader: strings.NewReader("body"), closed: make(chan struct{})}
				req := newRequest(t.Context(), t, "POST", url, nil)
				req.Body, req.ContentLength = body, length
				roundTrip(t, transport, req)
				<-body.closed
			})
		}
	}
}

type closeable struct {
	io.Reader
	closed chan struct{}
}

func (c *closeable) Close() error {
	close(c.closed)
	return nil
}
