package http1

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// sorted returns a head with its fields in order, since a header has none.
func sorted(head []byte) string {
	start, rest, _ := strings.Cut(string(head), "\r\n")
	fields := strings.Split(strings.TrimRight(rest, "\r\n"), "\r\n")
	slices.SortStableFunc(fields, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, ":")
		nameB, _, _ := strings.Cut(b, ":")
		return strings.Compare(nameA, nameB)
	})
	return start + "|" + strings.Join(fields, "|")
}

func TestRequestHead(t *testing.T) {
	at := func(u url.URL) *http.Request {
		u.Scheme, u.Host = "http", "h.test:81"
		return &http.Request{Method: http.MethodGet, URL: &u}
	}
	full := at(url.URL{Opaque: "/a"})
	full.Host = "g.test"
	full.Header = http.Header{
		"X-A": {"2", "1"}, "Host": {"evil"}, "User-Agent": {""}, "Content-Length": {"9"}, "Transfer-Encoding": {"chunked"}, "Trailer": {"X"}, "Te": {"trailers"}, "X-E": {""},
	}
	method := at(url.URL{Path: "/"})
	method.Method = "M-SEARCH"
	zone := at(url.URL{Path: "/"})
	zone.URL.Host = "[fe80::1%25eth0]:80"
	tests := []struct {
		name string
		r    *http.Request
		m    message
		want string
	}{
		{"http M12 empty path", at(url.URL{}), message{}, "GET / HTTP/1.1|Host: h.test:81"},
		{"http M12 empty path with a query", at(url.URL{RawQuery: "b"}), message{}, "GET /?b HTTP/1.1|Host: h.test:81"},
		{"http M15 asterisk", at(url.URL{Path: "*"}), message{}, "GET * HTTP/1.1|Host: h.test:81"},
		{"empty query", at(url.URL{Path: "/a", ForceQuery: true}), message{}, "GET /a? HTTP/1.1|Host: h.test:81"},
		{"http S17 bytes as they are", at(url.URL{Opaque: "/a%2Fb/./c|d", RawQuery: "q=%zz&&+"}), message{}, "GET /a%2Fb/./c|d?q=%zz&&+ HTTP/1.1|Host: h.test:81"},
		{"path to encode", at(url.URL{Path: "/a b"}), message{}, "GET /a%20b HTTP/1.1|Host: h.test:81"},
		{"encoded path", at(url.URL{Path: "//a/b", RawPath: "//a%2fb"}), message{}, "GET //a%2fb HTTP/1.1|Host: h.test:81"},
		{"http S25 any method", method, message{}, "M-SEARCH / HTTP/1.1|Host: h.test:81"},
		{"C153 zone of an address", zone, message{}, "GET / HTTP/1.1|Host: [fe80::1]:80"},
		{"http S02, S09, M28, M41 header", full, message{}, "GET /a HTTP/1.1|Connection: TE|Host: g.test|Te: trailers|X-A: 2|X-A: 1|X-E: "},
		{"http M35 length", at(url.URL{}), message{framing: lengthBody, length: 22}, "GET / HTTP/1.1|Content-Length: 22|Host: h.test:81"},
		{"empty body", at(url.URL{}), message{explicit: true}, "GET / HTTP/1.1|Content-Length: 0|Host: h.test:81"},
		{
			"chunked with trailers", at(url.URL{}),
			message{framing: chunkedBody, trailer: http.Header{"X-A": nil, "Content-Length": nil}},
			"GET / HTTP/1.1|Host: h.test:81|Trailer: X-A|Transfer-Encoding: chunked",
		},
		{"http M52 close", at(url.URL{}), message{close: true}, "GET / HTTP/1.1|Connection: close|Host: h.test:81"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := appendRequestHead(nil, tt.r, tt.m)
			if err != nil || sorted(got) != tt.want {
				t.Errorf("%q, %v; want %q", sorted(got), err, tt.want)
			}
			if line, second, _ := strings.Cut(string(got), "\r\n"); !strings.HasPrefix(second, "Host: ") {
				t.Errorf("Host does not follow %q", line)
			}
		})
	}
}

func TestResponseHead(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header http.Header
		m      message
		want   string
	}{
		{"http M17 unusual code", 299, nil, message{explicit: true}, "HTTP/1.1 299 |Content-Length: 0"},
		{"http S02 lines stay apart", 200, http.Header{"Set-Cookie": {"a", "b"}}, message{framing: untilClose, close: true}, "HTTP/1.1 200 OK|Connection: close|Set-Cookie: a|Set-Cookie: b"},
		{"http M28 framing of the message alone", 200, http.Header{"Content-Length": {"9"}, "Transfer-Encoding": {"x"}, "Connection": {"y"}, "Trailer": {"Z"}}, message{framing: lengthBody, length: 3}, "HTTP/1.1 200 OK|Content-Length: 3"},
		{"http S08 Date is added", 200, nil, message{date: "now", explicit: true}, "HTTP/1.1 200 OK|Content-Length: 0|Date: now"},
		{"http S08 Date is kept", 200, http.Header{"Date": {"then"}}, message{date: "now", explicit: true}, "HTTP/1.1 200 OK|Content-Length: 0|Date: then"},
		{"http M25 no framing in a 204", 204, nil, message{framing: chunkedBody, explicit: true}, "HTTP/1.1 204 No Content|"},
		{"http M29 no framing in a 304", 304, nil, message{framing: chunkedBody}, "HTTP/1.1 304 Not Modified|"},
		{"length in a 304", 304, nil, message{explicit: true, length: 5}, "HTTP/1.1 304 Not Modified|Content-Length: 5"},
		{"http S28 length for HEAD", 200, nil, message{explicit: true, length: 5_000_000_000}, "HTTP/1.1 200 OK|Content-Length: 5000000000"},
		{"http S20 101 keeps Connection", 101, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"x"}}, message{}, "HTTP/1.1 101 Switching Protocols|Connection: Upgrade|Upgrade: x"},
		{"chunked", 200, http.Header{http.TrailerPrefix + "X-A": {"1"}}, message{framing: chunkedBody, trailer: http.Header{"X-B": nil}}, "HTTP/1.1 200 OK|Trailer: X-B|Transfer-Encoding: chunked"},
		{"http M45 keep-alive for HTTP/1.0", 200, nil, message{explicit: true, keepAlive: true}, "HTTP/1.1 200 OK|Connection: keep-alive|Content-Length: 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := appendResponseHead(nil, tt.status, tt.header, tt.m)
			if err != nil || sorted(got) != tt.want {
				t.Errorf("%q, %v; want %q", sorted(got), err, tt.want)
			}
		})
	}
	got, err := appendInterimHead(nil, 103, http.Header{"Link": {"</a>"}, "Content-Length": {"5"}})
	if want := "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"; err != nil || string(got) != want {
		t.Errorf("http S43 %q, %v; want %q", got, err, want)
	}
}

// http S04, C041: whatever a filter makes of a head, nothing in it ends a line.
func TestNothingUnsafeIsWritten(t *testing.T) {
	requests := map[string]struct {
		change func(*http.Request)
		want   error
	}{
		"CR LF in a value":       {func(r *http.Request) { r.Header["X-A"] = []string{"a\r\nX-Inj: 1"} }, errFieldValue},
		"LF in a value":          {func(r *http.Request) { r.Header["X-A"] = []string{"a\nb"} }, errFieldValue},
		"CR in a value":          {func(r *http.Request) { r.Header["X-A"] = []string{"a\rb"} }, errFieldValue},
		"NUL in a second value":  {func(r *http.Request) { r.Header["X-A"] = []string{"a", "a\x00b"} }, errFieldValue},
		"DEL in a long value":    {func(r *http.Request) { r.Header["X-A"] = []string{strings.Repeat("a", 15) + "\x7f"} }, errFieldValue},
		"colon in a name":        {func(r *http.Request) { r.Header["X-A: b\r\nC"] = []string{"a"} }, errFieldName},
		"space in a name":        {func(r *http.Request) { r.Header["X A"] = []string{"a"} }, errFieldName},
		"no name":                {func(r *http.Request) { r.Header[""] = []string{"a"} }, errFieldName},
		"space in the path":      {func(r *http.Request) { r.URL.Opaque = "/a HTTP/1.1" }, errTarget},
		"LF in the path":         {func(r *http.Request) { r.URL.Opaque = "/a\nX: 1" }, errTarget},
		"fragment":               {func(r *http.Request) { r.URL.Opaque = "/a#b" }, errTarget},
		"CR in the query":        {func(r *http.Request) { r.URL.RawQuery = "a\r" }, errTarget},
		"not ASCII in the query": {func(r *http.Request) { r.URL.RawQuery = "\xe9" }, errTarget},
		"relative path":          {func(r *http.Request) { r.URL.Opaque, r.URL.Path = "", "a" }, errTarget},
		"space in the method":    {func(r *http.Request) { r.Method = "GET /x" }, errMethod},
		"no method":              {func(r *http.Request) { r.Method = "" }, errMethod},
		"C041 LF in Host":        {func(r *http.Request) { r.Host = "g.test\nX: 1" }, errHost},
		"C041 space in Host":     {func(r *http.Request) { r.Host = "g test" }, errHost},
		"no host at all":         {func(r *http.Request) { r.Host, r.URL.Host = "", "" }, errHost},
	}
	for name, tt := range requests {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{Method: http.MethodGet, URL: &url.URL{Host: "g.test", Opaque: "/a"}, Header: http.Header{}}
			tt.change(r)
			if got, err := appendRequestHead(nil, r, message{}); !errors.Is(err, tt.want) {
				t.Errorf("%q, %v; want %v", got, err, tt.want)
			}
		})
	}
	for _, header := range []http.Header{{"X-A": {"a\r\nb"}}, {"X\r\nA": {"b"}}} {
		if got, err := appendResponseHead(nil, 200, header, message{}); err == nil {
			t.Errorf("response %q", got)
		}
		if got, err := appendLastChunk(nil, header); err == nil {
			t.Errorf("trailer section %q", got)
		}
	}
	for _, status := range []int{-1, 0, 99, 1000} {
		if got, err := appendResponseHead(nil, status, nil, message{}); !errors.Is(err, errStatus) {
			t.Errorf("http S42 %q, %v", got, err)
		}
	}
}

func TestChunks(t *testing.T) {
	for _, n := range []int{1, 9, 10, 15, 16, 255, 4096, 32 << 10} {
		data := strings.Repeat("x", n)
		buf := make([]byte, chunkRoom+n+chunkTail)
		copy(buf[chunkRoom:], data)
		framed, appended := string(frameChunk(buf, n)), string(appendChunk(nil, []byte(data)))
		if framed != appended {
			t.Errorf("%d bytes: framed %.40q, appended %.40q", n, framed, appended)
		}
		m, err := receiveRequest(t, chunkedPost+framed+"0\r\n\r\n", 0, Limits{})
		if err != nil || m.body != data {
			t.Errorf("%d bytes: %d read back, %v", n, len(m.body), err)
		}
	}
	if got := appendChunk(nil, nil); len(got) != 0 {
		t.Errorf("a chunk of nothing, which would end the body: %q", got)
	}
}

func TestLastChunk(t *testing.T) {
	got, err := appendLastChunk(nil, http.Header{"X-A": {"1", "2"}, "Content-Length": {"5"}, "Host": {"h"}, "X-B": nil})
	if want := "0\r\nX-A: 1\r\nX-A: 2\r\n\r\n"; err != nil || string(got) != want {
		t.Errorf("http M39 %q, %v; want %q", got, err, want)
	}
}
