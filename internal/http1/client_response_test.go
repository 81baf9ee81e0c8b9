package http1_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/http1"
)

func TestResponses(t *testing.T) {
	tests := []struct {
		name, method, reply string
		status              int
		body                string
		length              int64
		reused              bool
	}{
		{"M16 no reason", "GET", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", 200, "ok", 2, true},
		{"M16 no reason and no space", "GET", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, "ok", 2, true},
		{"S42 status 299", "GET", "HTTP/1.1 299 Odd\r\nContent-Length: 2\r\n\r\nok", 299, "ok", 2, true},
		{"S42 status 999", "GET", "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok", 999, "ok", 2, true},
		{"M22 Chunked", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n", 200, "ok", -1, true},
		{"M37 chunk size with zeros", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0002;a=b\r\nok\r\n000\r\n\r\n", 200, "ok", -1, true},
		{"M29 HEAD with a length", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n", 200, "", 12345, true},
		{"C074 HEAD, chunked", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, "", -1, true},
		{"C074 HEAD, 404", "HEAD", "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n", 404, "", 9, true},
		{"M29 204 with a length", "GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 204, "", 0, true},
		{"M29 304 with a length", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, "", 0, true},
		{"M53 close", "GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, "ok", 2, false},
		{"S06 close in a long list", "GET", "HTTP/1.1 200 OK\r\nConnection: ,, foo, Close,\r\nContent-Length: 2\r\n\r\nok", 200, "ok", 2, false},
		{"M45 HTTP/1.0", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", 2, false},
		{"M45 HTTP/1.0 with keep-alive", "GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", 200, "ok", 2, true},
		{"M36 extra bytes", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay", 200, "ok", 2, false},
		{"C098 two responses", "GET", okReply + okReply, 200, "ok", 2, false},
		{"C098 extra CRLF", "GET", okReply + "\r\n", 200, "ok", 2, false},
		{"C098 body behind a 204", "GET", "HTTP/1.1 204 No Content\r\n\r\nok", 204, "", 0, false},
		{"C098 body behind a HEAD", "HEAD", okReply, 200, "", 2, false},
		{"C098 bytes behind the last chunk", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nx", 200, "ok", -1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw, transport := replies(t, tt.reply, okReply), newTransport(t, http1.TransportSettings{})
			a := fetch(t, transport, tt.method, "http://"+raw.Addr)
			if a.err != nil || a.StatusCode != tt.status || a.body != tt.body || a.ContentLength != tt.length {
				t.Fatalf("got %+v, %q, %v", a.Response, a.body, a.err)
			}
			fetch(t, transport, "GET", "http://"+raw.Addr)
			if got := len(raw.Received()) == 1; got != tt.reused {
				t.Errorf("reused %v, want %v", got, tt.reused)
			}
		})
	}
}

func TestRefusedResponses(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	for name, reply := range map[string]string{
		"M16 status of two digits":             "HTTP/1.1 20 \r\n\r\n",
		"S42 status 99":                        "HTTP/1.1 099 Odd\r\n\r\n",
		"S42 status 1000":                      "HTTP/1.1 1000 Odd\r\n\r\n",
		"C128 garbage":                         "SSH-2.0-OpenSSH_9.2\r\n\r\n",
		"M03 lines end in LF":                  "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
		"M19 space before the colon":           head + "X-B : 1\r\nContent-Length: 2\r\n\r\nok",
		"M21 folded field":                     head + "X-B: 1\r\n 2\r\nContent-Length: 2\r\n\r\nok",
		"M21 folded Content-Length":            head + "Content-Length: 2\r\n 0\r\n\r\nok",
		"M26 both framings":                    head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"M27 chunked in HTTP/1.0":              "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"M32 length with a sign":               head + "Content-Length: +2\r\n\r\nok",
		"M32 lengths that differ":              head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok",
		"C066 length beyond 64 bits":           head + "Content-Length: 99999999999999999999999\r\n\r\nok",
		"M24 unknown coding":                   head + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"C043 NUL in a value":                  head + "X-A: a\x00b\r\nContent-Length: 2\r\n\r\nok",
		"M43 bad chunk size":                   head + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n",
		"M43 no CRLF behind a chunk":           head + "Transfer-Encoding: chunked\r\n\r\n2\r\nokXX0\r\n\r\n",
		"M37 chunk size beyond 64 bits":        head + "Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\nok\r\n0\r\n\r\n",
		"S23 length announced as a trailer":    head + "Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"C095 switch that was not asked for":   "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
		"S43 interim responses without an end": strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100) + okReply,
	} {
		t.Run(name, func(t *testing.T) {
			raw, transport := replies(t, reply), newTransport(t, http1.TransportSettings{})
			fetch(t, transport, "GET", "http://"+raw.Addr).wantRefused(t)
			fetch(t, transport, "GET", "http://"+raw.Addr).wantRefused(t)
			if n := len(raw.Received()); n != 2 {
				t.Errorf("%d connections for 2 requests, want 2", n)
			}
		})
	}
}

// A response that is cut is never taken for complete, and a head that is cut is
// no response.
func TestCutResponses(t *testing.T) {
	for name, reply := range map[string]string{
		"C128 nothing":          "",
		"C128 half a head":      "HTTP/1.1 200 OK\r\nContent-Le",
		"M33 half a body":       "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok",
		"M43 no last chunk":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
		"M43 half a chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok",
		"M43 half a trailer":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n",
		"S32 only a 100":        "HTTP/1.1 100 Continue\r\n\r\n",
		"M43 half a chunk size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2",
	} {
		t.Run(name, func(t *testing.T) {
			raw := replyAndClose(t, reply)
			a := fetch(t, newTransport(t, http1.TransportSettings{}), "GET", "http://"+raw.Addr)
			if !errors.Is(a.err, io.ErrUnexpectedEOF) {
				t.Fatalf("got %+v, %q, %v; want an unexpected EOF", a.Response, a.body, a.err)
			}
			if nothingSent(a.err) {
				t.Error("a request that was sent is said not to be")
			}
		})
	}
}

func TestBodyUntilClose(t *testing.T) {
	for _, reply := range []string{"HTTP/1.1 200 OK\r\n\r\nok", "HTTP/1.0 200 OK\r\n\r\nok"} {
		t.Run("M34 "+reply[:8], func(t *testing.T) {
			raw := replyAndClose(t, reply)
			a := fetch(t, newTransport(t, http1.TransportSettings{}), "GET", "http://"+raw.Addr)
			a.wantOK(t)
			if a.ContentLength != -1 || !a.Close || a.Proto != reply[:8] {
				t.Errorf("length %d, close %v, %s", a.ContentLength, a.Close, a.Proto)
			}
		})
	}
}

func TestResponseFields(t *testing.T) {
	raw := replies(t, "HTTP/1.1 200 OK\r\nx-a:  2\t\r\nSet-Cookie: a=1\r\nX-A: 1\r\nset-cookie: b=2, c\r\n!#$%&'*+-.^_`|~: odd\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n")
	a := fetch(t, newTransport(t, http1.TransportSettings{}), "GET", "http://"+raw.Addr)
	if a.err != nil {
		t.Fatal(a.err)
	}
	want := http.Header{
		"X-A": {"2", "1"}, "Set-Cookie": {"a=1", "b=2, c"}, "!#$%&'*+-.^_`|~": {"odd"}, "X-Empty": {""}, "Content-Length": {"0"},
	}
	if diff := cmp.Diff(want, a.Header); diff != "" {
		t.Error("S02 S05 fields:", diff)
	}
	if a.Status != "200 OK" || a.Request == nil {
		t.Errorf("status %q, request %v", a.Status, a.Request)
	}
	a.Header["X-Empty"] = append(a.Header["X-Empty"], "more")
	if got := a.Header["Content-Length"][0]; got != "0" {
		t.Errorf("an append to one field changed another to %q", got)
	}
}

func TestManyFields(t *testing.T) {
	var reply strings.Builder
	reply.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n")
	for i := range 200 {
		fmt.Fprintf(&reply, "X-%d: %d\r\n", i, i)
	}
	raw := replies(t, reply.String()+"\r\nok")
	a := fetch(t, newTransport(t, http1.TransportSettings{}), "GET", "http://"+raw.Addr)
	a.wantOK(t)
	if len(a.Header) != 201 || a.Header.Get("X-199") != "199" {
		t.Errorf("S01 %d fields arrived", len(a.Header))
	}
}

func TestResponseTrailers(t *testing.T) {
	raw := replies(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-More: 1\r\n\r\n")
	transport := newTransport(t, http1.TransportSettings{})
	res, err := transport.RoundTrip(newRequest(t.Context(), t, "GET", "http://"+raw.Addr, http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if diff := cmp.Diff(http.Header{"X-Sum": nil}, res.Trailer); diff != "" {
		t.Error("M39 announced:", diff)
	}
	if res.Header["Trailer"] != nil || res.Header["Transfer-Encoding"] != nil || !cmp.Equal(res.TransferEncoding, []string{"chunked"}) {
		t.Errorf("framing fields %v, %v", res.Header, res.TransferEncoding)
	}
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(http.Header{"X-Sum": {"7"}, "X-More": {"1"}}, res.Trailer); diff != "" {
		t.Error("M39 received:", diff)
	}
}

// M40: a response that arrives one byte at a time is the same response.
func TestResponseInPieces(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	go func() {
		for p := u.accept(); p != nil; p = u.accept() {
			p.await("\r\n\r\n")
			for _, b := range []byte("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\no\r\n01\r\nk\r\n0\r\nX-T: 1\r\n\r\n") {
				p.send(string(b))
			}
		}
	}()
	a := fetch(t, transport, "GET", u.url())
	a.wantOK(t)
	if a.Trailer.Get("X-T") != "1" {
		t.Errorf("trailer %v", a.Trailer)
	}
}

func TestLargeLength(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	ended := make(chan bool)
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send("HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n" + strings.Repeat("\x00", 1<<20))
		ended <- p.ended()
	}()
	res, err := transport.RoundTrip(newRequest(t.Context(), t, "GET", u.url(), http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, res.Body, 1<<20); err != nil || res.ContentLength != 5_000_000_000 {
		t.Errorf("C066 length %d, %v", res.ContentLength, err)
	}
	_ = res.Body.Close()
	if !<-ended {
		t.Error("M47 the connection of an abandoned response stays open")
	}
	if _, err := res.Body.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("read after close: %v", err)
	}
}

// A body of which everything has arrived does not cost the connection when it is
// closed unread.
func TestUnreadBodyThatHasArrived(t *testing.T) {
	for name, reply := range map[string]string{
		"length":  okReply,
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			raw, transport := replies(t, reply, okReply), newTransport(t, http1.TransportSettings{})
			res, err := transport.RoundTrip(newRequest(t.Context(), t, "GET", "http://"+raw.Addr, http.NoBody))
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			fetch(t, transport, "GET", "http://"+raw.Addr).wantOK(t)
			if n := len(raw.Received()); n != 1 {
				t.Errorf("%d connections, want 1", n)
			}
		})
	}
}
