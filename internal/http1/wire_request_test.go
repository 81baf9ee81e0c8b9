package http1

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hostLine, getLine, postLine = "Host: g.test", "GET /api/x HTTP/1.1", "POST /api/x HTTP/1.1"

type refusedRequest struct {
	name, text string
	status     int
}

func refusedRequests() []refusedRequest {
	tests := []refusedRequest{
		{"http M01 ever more empty lines", strings.Repeat("\r\n", 10_000), 400},
		{"http M02 bare CR in a value", wireHead(getLine, hostLine, "X-A: a\rb"), 400},
		{"http M02 bare CR in the target", wireHead("GET /api/\rx HTTP/1.1", hostLine), 400},
		{"http M03 LF for CRLF everywhere", getLine + "\n" + hostLine + "\n\n", 400},
		{"http M03 LF for CRLF after a field", getLine + "\r\n" + hostLine + "\n\r\n", 400},
		{"http M03 LF for CRLF at the end", getLine + "\r\n" + hostLine + "\r\n\n", 400},
		{"http M04 space before the first field", wireHead(getLine, " X-A: 1", hostLine), 400},
		{"http M04 tab before the first field", wireHead(getLine, "\tX-A: 1", hostLine), 400},
		{"http M05 TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
		{"http M05 NUL", "\x00\x00\x00", 400},
		{"http M05 SMTP", "EHLO g.test\r\n", 400},
		{"http M07 two spaces", wireHead("GET  /api/x HTTP/1.1", hostLine), 400},
		{"http M07 two spaces before the version", wireHead("GET /api/x  HTTP/1.1", hostLine), 400},
		{"http M07 tab", wireHead("GET\t/api/x HTTP/1.1", hostLine), 400},
		{"http M07 space at the end", wireHead("GET /api/x HTTP/1.1 ", hostLine), 400},
		{"http M07 space at the start", wireHead(" GET /api/x HTTP/1.1", hostLine), 400},
		{"http M07 no target", wireHead("GET HTTP/1.1", hostLine), 400},
		{"http M07 no version", wireHead("GET /api/x", hostLine), 400},
		{"http M08 endless method", strings.Repeat("M", 64<<10), 501},
		{"http M08 long method", wireHead(strings.Repeat("M", 33)+" / HTTP/1.1", hostLine), 501},
		{"http M08 method with junk", wireHead("GE(T /api/x HTTP/1.1", hostLine), 400},
		{"http M09 endless target", "GET /" + strings.Repeat("a", 9000), 414},
		{"http M09 long target", wireHead("GET /"+strings.Repeat("a", 9000)+" HTTP/1.1", hostLine), 414},
		{"http M10 raw space", wireHead("GET /api/a b HTTP/1.1", hostLine), 400},
		{"http M10 not ASCII", wireHead("GET /api/caf\u00e9 HTTP/1.1", hostLine), 400},
		{"http M10 not ASCII in the query", wireHead("GET /api/x?caf\xe9 HTTP/1.1", hostLine), 400},
		{"http M10 fragment", wireHead("GET /api/x#y HTTP/1.1", hostLine), 400},
		{"http M10 DEL", wireHead("GET /api/x\x7f HTTP/1.1", hostLine), 400},
		{"http M10 broken escape", wireHead("GET /api/%zz HTTP/1.1", hostLine), 400},
		{"http M11, C039 no Host", wireHead(getLine), 400},
		{"http M11, C039 empty Host", wireHead(getLine, "Host:"), 400},
		{"http M11, C039 two equal Hosts", wireHead(getLine, hostLine, hostLine), 400},
		{"http M11, C039 two Hosts", wireHead(getLine, hostLine, "Host: h.test"), 400},
		{"http M11, C039 Host with a space", wireHead(getLine, "Host: a b"), 400},
		{"http M11, C039 Host with a path", wireHead(getLine, "Host: g.test/evil"), 400},
		{"http M11, C039 Host with two ports", wireHead(getLine, "Host: g.test:80:80"), 400},
		{"http M11, C039 open bracket", wireHead(getLine, "Host: [::1"), 400},
		{"http M11, C039 Host with user information", wireHead(getLine, "Host: g.test@evil"), 400},
		{"http M11 list of Hosts", wireHead(getLine, "Host: g.test, h.test"), 400},
		{"http M11 two Hosts in HTTP/1.0", wireHead("GET / HTTP/1.0", hostLine, hostLine), 400},
		{"C041 CR in Host", wireHead(getLine, "Host: g.test\rX-Inj: 1"), 400},
		{"C041 VT in Host", wireHead(getLine, "Host: g.test\x0bX"), 400},
		{"C041 LF and a fold in Host", wireHead(getLine, "Host: g.test\n X: 1"), 400},
		{"C041 fold in X-Forwarded-Host", wireHead(getLine, hostLine, "X-Forwarded-Host: a", " b"), 400},
		{"http M13 absolute form with user information", wireHead("GET http://u@g.test/ HTTP/1.1", hostLine), 400},
		{"http M13 absolute form without authority", wireHead("GET http:///x HTTP/1.1", hostLine), 400},
		{"http M13 absolute form, no Host", wireHead("GET http://g.test/ HTTP/1.1"), 400},
		{"http M13 absolute form, bad Host", wireHead("GET http://g.test/ HTTP/1.1", "Host: a b"), 400},
		{"http M13 another scheme", wireHead("GET ftp://g.test/ HTTP/1.1", hostLine), 400},
		{"http M14 authority form", wireHead("GET a:80 HTTP/1.1", hostLine), 400},
		{"http M14 no slash", wireHead("GET api/x HTTP/1.1", hostLine), 400},
		{"http M15 asterisk for GET", wireHead("GET * HTTP/1.1", hostLine), 400},
		{"http M15 asterisk and more", wireHead("OPTIONS *x HTTP/1.1", hostLine), 400},
		{"http S29 CONNECT to a path", wireHead("CONNECT /api/x HTTP/1.1", hostLine), 400},
		{"http S29 CONNECT without port", wireHead("CONNECT g.test HTTP/1.1", hostLine), 400},
		{"http S29 CONNECT to an empty port", wireHead("CONNECT g.test: HTTP/1.1", hostLine), 400},
		{"http S29 CONNECT to a bad port", wireHead("CONNECT g.test:x HTTP/1.1", hostLine), 400},
		{"HTTP/0.9", "GET /\r\n", 400},
		{"HTTP/2", wireHead("GET / HTTP/2.0", hostLine), 505},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
		{"lower-case version", wireHead("GET / http/1.1", hostLine), 400},
		{"version of two digits", wireHead("GET / HTTP/1.11", hostLine), 400},
		{"version without point", wireHead("GET / HTTP/1/1", hostLine), 400},
		{"version with a letter", wireHead("GET / HTTP/1.x", hostLine), 400},
		{"major version with a letter", wireHead("GET / HTTP/x.1", hostLine), 400},
		{"version of another protocol", wireHead("GET / HTTQ/1.1", hostLine), 400},
		{"http M18, C091 space before the colon", wireHead(postLine, hostLine, "Content-Length : 5"), 400},
		{"http M18 space before the colon of Host", wireHead(getLine, "Host : g.test"), 400},
		{"http M18, C087 space before the colon of Transfer-Encoding", wireHead(postLine, hostLine, "Transfer-Encoding : chunked"), 400},
		{"http M18, C091 tab before the colon", wireHead(getLine, hostLine, "X-A\t: 1"), 400},
		{"http M20, C092 fold", wireHead(postLine, hostLine, "X-A: 1", " Transfer-Encoding: chunked"), 400},
		{"http M20, C092 fold in Transfer-Encoding", wireHead(postLine, hostLine, "Transfer-Encoding:", " chunked"), 400},
		{"http M20, C092 fold in Host", wireHead(getLine, hostLine, " evil"), 400},
		{"C091 no name", wireHead(postLine, hostLine, ": chunked"), 400},
		{"C091 parenthesis in a name", wireHead(getLine, hostLine, "X(A: 1"), 400},
		{"C091 byte above ASCII in a name", wireHead(getLine, hostLine, "X\xe9: 1"), 400},
		{"C091 no colon", wireHead(getLine, hostLine, "X-A"), 400},
		{"C091 endless name", wireHead(getLine, hostLine, strings.Repeat("x", 70_000)+": 1"), 431},
		{"http S04, C043 NUL", wireHead(getLine, hostLine, "X-A: a\x00b"), 400},
		{"http S04, C043 CR", wireHead(getLine, hostLine, "X-A: a\rb"), 400},
		{"C043 DEL", wireHead(getLine, hostLine, "X-A: a\x7fb"), 400},
		{"C043 SOH", wireHead(getLine, hostLine, "X-A: \x01"), 400},
		{"http M24 unknown coding first", wireHead(postLine, hostLine, "Transfer-Encoding: gzip, chunked"), 501},
		{"http M24 unknown coding first", wireHead(postLine, hostLine, "Transfer-Encoding: foo, chunked"), 501},
		{"http M26, C083 length, then coding", wireHead(postLine, hostLine, "Content-Length: 44", "Transfer-Encoding: chunked"), 400},
		{"http M26, C083 coding, then length", wireHead(postLine, hostLine, "Transfer-Encoding: chunked", "Content-Length: 4"), 400},
		{"http M27 coding in HTTP/1.0", wireHead("POST / HTTP/1.0", hostLine, "Transfer-Encoding: chunked"), 400},
		{"http M30 chunked is not the last", wireHead(postLine, hostLine, "Transfer-Encoding: chunked, gzip"), 400},
		{"C230 one header too large", wireHead(getLine, hostLine, "X-A: "+strings.Repeat("x", 2<<20)), 431},
		{"C230 too many headers", wireHead(getLine, hostLine, strings.Repeat("a:\r\n", 100_000)), 431},
		{"C230 request line too large", wireHead("GET /"+strings.Repeat("x", 64<<10)+" HTTP/1.1", hostLine), 414},
		{"C085 two lengths", wireHead(postLine, hostLine, "Content-Length: 5", "Content-Length: 6"), 400},
		{"C085 two equal lengths", wireHead(postLine, hostLine, "Content-Length: 5", "Content-Length: 5"), 400},
		{"C087 identity first", wireHead(postLine, hostLine, "Transfer-Encoding: identity, chunked"), 501},
		{"C087 chunked, then x", wireHead(postLine, hostLine, "Transfer-Encoding: chunked", "Transfer-Encoding: x"), 400},
		{"C087 x, then chunked", wireHead(postLine, hostLine, "Transfer-Encoding: x", "Transfer-Encoding: chunked"), 400},
		{"C087 two lines chunked", wireHead(postLine, hostLine, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 400},
		{"C087 smuggled by a LF", wireHead(postLine, hostLine, "X: y\nTransfer-Encoding: chunked"), 400},
		{"C087 LF and a fold", wireHead(postLine, hostLine, "Transfer-Encoding:\n chunked"), 400},
		{"framing announced as a trailer", wireHead(postLine, hostLine, "Transfer-Encoding: chunked", "Trailer: X, content-length"), 400},
		{"http S31 unknown expectation", wireHead(postLine, hostLine, "Expect: 200-ok"), 417},
	}
	for _, v := range []string{
		"\rchunked", "\x0bchunked", "xchunked", "chunked, identity", "chunked, chunked", "chunked;q=1", `"chunked"`,
		"chunked,", "", "chunked chunked", "chunked\x00", "chunked, identity, chunked", ", chunked", "x y, chunked",
	} {
		tests = append(tests, refusedRequest{"http M30, C087 Transfer-Encoding " + strconv.Quote(v), wireHead(postLine, hostLine, "Transfer-Encoding: "+v), 400})
	}
	for _, v := range []string{
		"5, 5", "5, 6", "5,", "5;a", "\uff15", "5_0", "1e1", "4 2", "", "+5", "-5", "0x5", "5.0",
		"9223372036854775808", "99999999999999999999", "1000000000000000000000000",
	} {
		tests = append(tests, refusedRequest{"http M31, S23, S24, C085 Content-Length " + strconv.Quote(v), wireHead(postLine, hostLine, "Content-Length: "+v), 400})
	}
	return tests
}

func TestRequestsRefused(t *testing.T) {
	for _, tt := range refusedRequests() {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{0, 1, 7} {
				if len(tt.text) > 100_000 && piece != 0 {
					continue
				}
				_, err := receiveRequest(t, tt.text, piece, Limits{})
				wantRefused(t, err, tt.status)
			}
		})
	}
}

func TestRequestsAccepted(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // method target host minor framing length
		header     http.Header
		body       string
	}{
		{"http M01 an empty line first", "\r\n" + wireHead(getLine, hostLine), "GET /api/x g.test 1 0 0", nil, ""},
		{"http M08 any short method", wireHead("X-Y /api/x HTTP/1.1", hostLine), "X-Y /api/x g.test 1 0 0", nil, ""},
		{"http M08, S25 lower case is another method", wireHead("get /api/x HTTP/1.1", hostLine), "get /api/x g.test 1 0 0", nil, ""},
		{"http M08 the longest method", wireHead(strings.Repeat("M", 32)+" / HTTP/1.1", hostLine), strings.Repeat("M", 32) + " / g.test 1 0 0", nil, ""},
		{"http M11 one Host with a port", wireHead(getLine, "Host: [::1]:8080"), "GET /api/x [::1]:8080 1 0 0", nil, ""},
		{"http M11, C039 HTTP/1.0 without Host", wireHead("GET / HTTP/1.0"), "GET /  0 0 0", nil, ""},
		{"http M13 absolute form replaces Host", wireHead("GET http://h.test:81/a?b HTTP/1.1", hostLine), "GET http://h.test:81/a?b h.test:81 1 0 0", nil, ""},
		{"http M13 absolute form without path", wireHead("GET HTTPS://h.test?b HTTP/1.1", hostLine), "GET HTTPS://h.test?b h.test 1 0 0", nil, ""},
		{"http M15 OPTIONS *", wireHead("OPTIONS * HTTP/1.1", hostLine), "OPTIONS * g.test 1 0 0", nil, ""},
		{"http M15 OPTIONS of a server", wireHead("OPTIONS http://h.test HTTP/1.1", hostLine), "OPTIONS * h.test 1 0 0", nil, ""},
		{"http M15 OPTIONS of its root", wireHead("OPTIONS http://h.test/ HTTP/1.1", hostLine), "OPTIONS http://h.test/ h.test 1 0 0", nil, ""},
		{"http S29 CONNECT", wireHead("CONNECT h.test:443 HTTP/1.1", hostLine), "CONNECT h.test:443 h.test:443 1 0 0", nil, ""},
		{"a later minor version", wireHead("GET / HTTP/1.9", hostLine), "GET / g.test 1 0 0", nil, ""},
		{
			"http M22, C087 CHUNKED", wireHead(postLine, hostLine, "Transfer-Encoding: CHUNKED", "", "3", "abc", "0"),
			"POST /api/x g.test 1 2 -1", nil, "abc",
		},
		{
			"C087 Transfer_Encoding is another field", wireHead(postLine, hostLine, "Transfer_Encoding: chunked"),
			"POST /api/x g.test 1 0 0",
			http.Header{"Transfer_encoding": {"chunked"}},
			"",
		},
		{
			"http S05 white space around a value", wireHead(getLine, hostLine, "X-A: \t 1 \t", "X-B:2", "X-C: "),
			"GET /api/x g.test 1 0 0",
			http.Header{"X-A": {"1"}, "X-B": {"2"}, "X-C": {""}},
			"",
		},
		{
			"http S01 names in any case and of any token character", wireHead(getLine, hostLine, "x-a: 1", "X-B: 2", "!#$%&'*+.^_`|~9: 3"),
			"GET /api/x g.test 1 0 0",
			http.Header{"X-A": {"1"}, "X-B": {"2"}, "!#$%&'*+.^_`|~9": {"3"}},
			"",
		},
		{
			"http S02 order of lines", wireHead(getLine, hostLine, "X-A: 2", "X-B: 0", "x-a: 1", "X-A: 3"),
			"GET /api/x g.test 1 0 0",
			http.Header{"X-A": {"2", "1", "3"}, "X-B": {"0"}},
			"",
		},
		{
			"bytes above ASCII in a value", wireHead(getLine, hostLine, "X-A: caf\xe9\t\u00e9"),
			"GET /api/x g.test 1 0 0",
			http.Header{"X-A": {"caf\xe9\t\u00e9"}},
			"",
		},
		{
			"C085 leading zero", wireHead(postLine, hostLine, "Content-Length: 05") + "abcde",
			"POST /api/x g.test 1 1 5",
			http.Header{"Content-Length": {"05"}},
			"abcde",
		},
		{"no body", wireHead(postLine, hostLine, "Content-Length: 0"), "POST /api/x g.test 1 0 0", http.Header{"Content-Length": {"0"}}, ""},
		{"http S27 body of a GET", wireHead(getLine, hostLine, "Content-Length: 3") + "abc", "GET /api/x g.test 1 1 3", http.Header{"Content-Length": {"3"}}, "abc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{0, 1, 7} {
				m, err := receiveRequest(t, tt.text, piece, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if got := m.head.describe(); got != tt.want {
					t.Errorf("received %q, want %q", got, tt.want)
				}
				if tt.header == nil {
					tt.header = http.Header{}
				}
				if diff := cmp.Diff(tt.header, m.header); diff != "" {
					t.Errorf("header, -want +got\n%s", diff)
				}
				if m.body != tt.body || m.rest != "" {
					t.Errorf("body %q, then %q", m.body, m.rest)
				}
			}
		})
	}
}

func (h *head) describe() string {
	return strings.Join([]string{
		h.method, h.target, h.host, strconv.Itoa(h.minor), strconv.Itoa(int(h.framing)), strconv.FormatInt(h.length, 10),
	}, " ")
}
