package http1

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// stricter lists every reason for which this package refuses what net/http
// accepts. With any other reason net/http has to refuse too.
func stricter(reason string) bool {
	switch reason {
	case
		// Heads.
		"bare CR",                                   // net/http takes a CR in a value for white space in places
		"line ends in a bare LF",                    // net/http takes it for a line end
		"control character",                         // net/http lets some stand in a reason, and DEL in a target
		"invalid request line",                      // white space around the parts of a line
		"invalid character in the request target",   // raw bytes above ASCII; "#" as part of the path
		"invalid request target",                    // targets that do not suit the method, other schemes, user information
		"invalid protocol version",                  // versions of net/http's own
		"protocol version not supported",            // net/http parses HTTP/0.9 and HTTP/2.0
		"invalid status line",                       // more white space, longer protocol names
		"invalid status code",                       // "+20" and codes below 100
		"invalid field name",                        // net/http leaves names with spaces to its server, and takes them from upstreams
		"folded line or white space before a field", // net/http joins them with a space
		"method too long", "request line too long", "head too large", "too many fields",
		"no Host", "more than one Host", "invalid Host", // net/http's server checks some of it later
		"unknown expectation",
		// Framing.
		"both Content-Length and Transfer-Encoding",                                                     // net/http goes by the latter
		"Transfer-Encoding in HTTP/1.0",                                                                 // net/http ignores it
		"more than one Content-Length",                                                                  // net/http collapses equal ones
		"framing field announced as a trailer",                                                          // net/http minds only in chunked messages
		"invalid Content-Length",                                                                        // net/http reads none for a status without a body
		"more than one Transfer-Encoding", "invalid Transfer-Encoding", "transfer coding not supported", // nor codings in HTTP/1.0
		// Chunked bodies.
		"invalid chunk size", // net/http lets white space follow the size
		"chunk extensions too large", "trailer section too large",
		"framing field in a trailer section":
		return true
	}
	return false
}

// checkStrictness fails the test if err refuses for a reason that net/http
// should know too while it has accepted.
func checkStrictness(t *testing.T, err, theirs error) {
	t.Helper()
	var refused *Error
	if errors.As(err, &refused) && theirs == nil && !stricter(refused.Reason) {
		t.Errorf("only this package refuses: %v", err)
	}
	if !errors.As(err, &refused) && theirs == nil {
		t.Errorf("only this package fails: %v", err)
	}
}

// withoutPragma undoes what net/http makes of Pragma.
func withoutPragma(ours, theirs http.Header) http.Header {
	if _, sent := ours["Cache-Control"]; sent {
		return theirs
	}
	theirs = maps.Clone(theirs)
	if p := theirs["Pragma"]; len(p) > 0 && p[0] == "no-cache" {
		delete(theirs, "Cache-Control")
	}
	return theirs
}

// known returns the trailer fields that this package keeps, as net/http gave them.
func knownTrailer(theirs http.Header) http.Header {
	kept := http.Header{}
	for name, values := range theirs {
		if !forbiddenTrailer(name) && headers.IsToken(name) {
			kept[name] = values
		}
	}
	return kept
}

func FuzzRequest(f *testing.F) {
	for _, tt := range refusedRequests() {
		if len(tt.text) < 4096 {
			f.Add([]byte(tt.text), 1)
		}
	}
	for _, seed := range []string{
		"\r\n" + wireHead(getLine, hostLine),
		wireHead("GET http://h.test:81/a%2Fb?b HTTP/1.1", hostLine, "x-a: 1", "X-A: 2"),
		wireHead("OPTIONS * HTTP/1.1", hostLine), wireHead("CONNECT h.test:443 HTTP/1.1", hostLine), wireHead("GET // HTTP/1.0"),
		wireHead("GET /a? HTTP/1.1", hostLine), wireHead("GET /a?b?c HTTP/1.1", hostLine), wireHead("GET /a!b? HTTP/1.1", hostLine),
		wireHead("GET http://h.test?b HTTP/1.1", hostLine), wireHead("GET /%41%2f HTTP/1.1", hostLine), wireHead("GET /*/(a)[b] HTTP/1.1", hostLine),
		wireHead(postLine, hostLine, "Content-Length: 3", "Pragma: no-cache") + "abcGET",
		wireHead(postLine, hostLine, "Trailer: x-a", "Transfer-Encoding: Chunked") + "3;a=b\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\nGET",
		chunkedPost + "1 \r\nZ\r\n0\r\n\r\n", chunkedPost + "0\r\nContent-Length: 1\r\n\r\n",
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		m, err := receiveRequest(t, string(text), piece, Limits{})
		theirs, theirBody, theirRest, theirErr := netRequest(strings.TrimPrefix(string(text), "\r\n"))
		if err != nil {
			checkStrictness(t, err, theirErr)
			return
		}
		if theirErr != nil {
			t.Fatalf("net/http refuses: %v", theirErr)
		}
		if m.head.method != theirs.Method || m.head.host != theirs.Host || m.head.minor != min(theirs.ProtoMinor, 1) || m.head.length != theirs.ContentLength {
			t.Errorf("received %s, net/http %s %s %d %d", m.head.describe(), theirs.Method, theirs.Host, theirs.ProtoMinor, theirs.ContentLength)
		}
		if m.head.target != theirs.RequestURI && m.head.target != "*" {
			t.Errorf("target %q, net/http %q", m.head.target, theirs.RequestURI)
		}
		if diff := cmp.Diff(*theirs.URL, m.url); diff != "" && m.head.target != "*" {
			t.Errorf("URL, -net/http +ours\n%s", diff)
		}
		if diff := cmp.Diff(withoutPragma(m.header, theirs.Header), m.header); diff != "" {
			t.Errorf("header, -net/http +ours\n%s", diff)
		}
		if chunked := len(theirs.TransferEncoding) > 0; chunked != (m.head.framing == chunkedBody) || theirs.Close == m.head.persistent() {
			t.Errorf("framing %d, persistent %v; net/http %v, %v", m.head.framing, m.head.persistent(), theirs.TransferEncoding, !theirs.Close)
		}
		m.compareBody(t, theirBody, theirRest, theirs.Trailer)
		m.forwardRequest(t)
	})
}

// compareBody checks that both see the same body and the next message at the
// same place.
func (m *received) compareBody(t *testing.T, body, rest string, trailer http.Header) {
	t.Helper()
	if m.body != body || m.rest != rest {
		t.Errorf("body %q, then %q; net/http %q, then %q", m.body, m.rest, body, rest)
	}
	if m.trailer == nil {
		m.trailer = http.Header{}
	}
	if diff := cmp.Diff(knownTrailer(trailer), m.trailer); diff != "" {
		t.Errorf("trailer, -net/http +ours\n%s", diff)
	}
}

func netRequest(text string) (req *http.Request, body, rest string, err error) {
	r := bufio.NewReader(strings.NewReader(text))
	req, err = http.ReadRequest(r)
	if err != nil {
		return nil, "", "", err
	}
	got, err := io.ReadAll(req.Body)
	left, _ := io.ReadAll(r)
	return req, string(got), string(left), err
}

func netResponse(method, text string) (res *http.Response, body, rest string, err error) {
	r := bufio.NewReader(strings.NewReader(text))
	res, err = http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		return nil, "", "", err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	left, _ := io.ReadAll(r)
	return res, string(got), string(left), err
}

// forwardRequest writes the request anew and checks that both parsers read what
// this one had read first.
func (m *received) forwardRequest(t *testing.T) {
	t.Helper()
	if m.head.method == http.MethodConnect || m.head.host == "" {
		return
	}
	req := &http.Request{Method: m.head.method, URL: &m.url, Host: m.head.host, Header: m.header}
	out, err := appendRequestHead(nil, req, message{framing: m.head.framing, length: m.head.length, trailer: m.trailer})
	if err != nil {
		t.Fatalf("what was received cannot be written: %v", err)
	}
	if m.head.framing == chunkedBody {
		out = appendChunk(out, []byte(m.body))
		if out, err = appendLastChunk(out, m.trailer); err != nil {
			t.Fatal(err)
		}
	} else {
		out = append(out, m.body...)
	}
	again, err := receiveRequest(t, string(out), 0, Limits{RequestLine: 1 << 20, HeaderBytes: 1 << 20, Headers: 1 << 20})
	if err != nil {
		t.Fatalf("what was written is refused: %v\n%q", err, out)
	}
	_, body, rest, err := netRequest(string(out))
	if err != nil || body != m.body || rest != "" || again.body != m.body || again.rest != "" || again.head.framing != m.head.framing {
		t.Errorf("body %q, framing %d, became %q + %q, net/http %q + %q, %v", m.body, m.head.framing, again.body, again.rest, body, rest, err)
	}
	for _, name := range []string{"Content-Length", "Trailer", "User-Agent"} { // written from the message, or left out if empty
		delete(m.header, name)
		delete(again.header, name)
	}
	if _, offers := m.header["Te"]; offers { // needs its option
		m.header["Connection"] = append(m.header["Connection"], "TE")
	}
	if diff := cmp.Diff(m.header, again.header); diff != "" {
		t.Errorf("header, -received +forwarded\n%s", diff)
	}
	for name, values := range m.trailer {
		if diff := cmp.Diff(values, again.trailer[name]); diff != "" {
			t.Errorf("trailer, -received +forwarded\n%s", diff)
		}
	}
}

func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		wireHead(okLine, "Content-Length: 3") + "abcHTTP/1.1 200 OK", wireHead(okLine) + "abc", wireHead("HTTP/1.0 200 OK", "Connection: keep-alive", "Content-Length: 0"),
		wireHead("HTTP/1.1 304 Not Modified", "Content-Length: 3"), wireHead("HTTP/1.1 200 ", "content-length: 0", "Host: a"), wireHead("HTTP/1.1 200"),
		wireHead("HTTP/1.1 103 Early Hints", "Link: </a>") + wireHead(okLine), wireHead("HTTP/1.1 101 Switching Protocols", "Upgrade: x", "Connection: Upgrade"),
		wireHead(okLine, "Trailer: X-A", "Transfer-Encoding: chunked", "", "3", "abc", "0", "X-A: 1"), wireHead(okLine, "Content-Length: 3", "Transfer-Encoding: chunked"),
		wireHead("HTTP/1.1 +20 OK"), wireHead("HTTP/1.1 999 \xe9\t"), "HTTP/1.1 200 OK\nContent-Length: 0\n\n", wireHead(okLine, "X-B: 1", "\t2"), wireHead(okLine, "X-B : 1"),
	} {
		f.Add([]byte(seed), 1, false)
		f.Add([]byte(seed), 0, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int, head bool) {
		method := http.MethodGet
		if head {
			method = http.MethodHead
		}
		m, err := receiveResponse(t, method, string(text), piece, Limits{})
		theirs, theirBody, theirRest, theirErr := netResponse(method, string(text)) //nolint:bodyclose // netResponse does
		if err != nil {
			checkStrictness(t, err, theirErr)
			return
		}
		if theirErr != nil {
			t.Fatalf("net/http refuses: %v", theirErr)
		}
		if m.head.status != theirs.StatusCode || m.head.minor != min(theirs.ProtoMinor, 1) {
			t.Errorf("status %d, HTTP/1.%d; net/http %d %s", m.head.status, m.head.minor, theirs.StatusCode, theirs.Proto)
		}
		if diff := cmp.Diff(withoutPragma(m.header, theirs.Header), m.header); diff != "" {
			t.Errorf("header, -net/http +ours\n%s", diff)
		}
		if m.head.framing != noBody && m.head.length != theirs.ContentLength {
			t.Errorf("length %d, net/http %d", m.head.length, theirs.ContentLength)
		}
		if m.head.persistent() && theirs.Close {
			t.Error("net/http would not use the connection again")
		}
		m.compareBody(t, theirBody, theirRest, theirs.Trailer)
		m.forwardResponse(t, method)
	})
}

// forwardResponse writes the response anew and checks that it is read as the
// same one.
func (m *received) forwardResponse(t *testing.T, method string) {
	t.Helper()
	out, err := appendResponseHead(nil, m.head.status, m.header, message{framing: lengthBody, length: int64(len(m.body))})
	if err != nil {
		t.Fatalf("what was received cannot be written: %v", err)
	}
	again, err := receiveResponse(t, method, string(out)+m.body, 0, Limits{HeaderBytes: 1 << 20, Headers: 1 << 20})
	if err != nil {
		t.Fatalf("what was written is refused: %v\n%q", err, out)
	}
	if again.body != m.body || again.rest != "" || again.head.status != m.head.status {
		t.Errorf("body %q became %q, then %q", m.body, again.body, again.rest)
	}
	for _, name := range []string{"Content-Length", "Connection", "Trailer"} {
		delete(m.header, name)
		delete(again.header, name)
	}
	if diff := cmp.Diff(m.header, again.header); diff != "" {
		t.Errorf("header, -received +forwarded\n%s", diff)
	}
}

// FuzzChunked compares nothing but the chunked reader, which the heads of the
// other targets seldom lead to.
func FuzzChunked(f *testing.F) {
	for _, seed := range []string{
		"3\r\nabc\r\n0\r\n\r\n", "1;a\r\nZ\r\n0\r\nX-A: 1\r\n\r\nGET", "0a\r\n0123456789\r\n000\r\n\r\n", "1 \r\nZ\r\n0\r\n\r\n", "1\nZ\n0\n\n",
		"7fffffffffffffff\r\n", "ffffffffffffffff\r\n", "0\r\nA: b\r\n c\r\n\r\n", "0;\r\n\r\n", "1\t\r\nZ\r\n0\r\n\r\n", "0\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		m, err := receiveRequest(t, chunkedPost+string(text), piece, Limits{})
		theirs, theirBody, theirRest, theirErr := netRequest(chunkedPost + string(text))
		if err != nil {
			checkStrictness(t, err, theirErr)
			return
		}
		if theirErr != nil {
			t.Fatalf("net/http refuses: %v", theirErr)
		}
		m.compareBody(t, theirBody, theirRest, theirs.Trailer)
	})
}

// FuzzSegments checks that it makes no difference in which pieces a request
// arrives.
func FuzzSegments(f *testing.F) {
	for _, tt := range refusedRequests() {
		if len(tt.text) < 4096 {
			f.Add([]byte(tt.text))
		}
	}
	f.Add([]byte(wireHead(postLine, hostLine, "Trailer: x-a", "Transfer-Encoding: Chunked") + "3;a=b\r\nabc\r\n0\r\nX-A: 1\r\n\r\nGET"))
	f.Fuzz(func(t *testing.T, text []byte) {
		limits := Limits{RequestLine: 60, HeaderBytes: 200, Headers: 5}
		whole, err := receiveRequest(t, string(text), 0, limits)
		for _, piece := range []int{1, 2, 5} {
			parts, partsErr := receiveRequest(t, string(text), piece, limits)
			if (err == nil) != (partsErr == nil) {
				t.Fatalf("at once: %v; %d bytes at a time: %v", err, piece, partsErr)
			}
			if err == nil && (whole.head.describe() != parts.head.describe() || whole.body != parts.body || whole.rest != parts.rest ||
				!cmp.Equal(whole.header, parts.header) || !cmp.Equal(whole.trailer, parts.trailer)) {
				t.Fatalf("at once: %s %q; %d bytes at a time: %s %q", whole.head.describe(), whole.body, piece, parts.head.describe(), parts.body)
			}
		}
	})
}

// FuzzHost checks the short way against the long one.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{"g.test", "g.test:80", "127.0.0.1:65535", "g.test:", "g.test:0", ":80", "[::1]:80", "a@b:80", "a@80", "a/80", "a:1:2", "a:+1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		_, want := headers.ParseAuthority(host)
		if got := validHost(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	})
}

// FuzzWrite checks that nothing that a filter may put into a header can end a
// line, or add one.
func FuzzWrite(f *testing.F) {
	f.Add("GET", "/a", "g.test", "X-A", "1")
	f.Add("GET", "/a\r\nX: 1", "g.test\r\nX: 1", "X\r\nX", "1\r\nX: 1")
	f.Fuzz(func(t *testing.T, method, path, to, name, value string) {
		r := &http.Request{Method: method, URL: &url.URL{Opaque: path, RawQuery: value}, Host: to, Header: http.Header{name: {value}}}
		out, err := appendRequestHead(nil, r, message{})
		if err == nil {
			m, err := receiveRequest(t, string(out), 0, Limits{RequestLine: 1 << 20, HeaderBytes: 1 << 20})
			var refused *Error
			if errors.As(err, &refused) && strings.HasPrefix(refused.Reason, "control") || len(m.head.fields) > 2 || m.rest != "" {
				t.Errorf("%q: %d fields, then %q, %v", out, len(m.head.fields), m.rest, err)
			}
		}
		out, err = appendResponseHead(nil, http.StatusOK, http.Header{name: {value}}, message{framing: noBody, explicit: true})
		if err == nil {
			m, err := receiveResponse(t, http.MethodGet, string(out), 0, Limits{HeaderBytes: 1 << 20})
			if err != nil || len(m.head.fields) > 2 || m.rest != "" {
				t.Errorf("%q: %d fields, then %q, %v", out, len(m.head.fields), m.rest, err)
			}
		}
	})
}
