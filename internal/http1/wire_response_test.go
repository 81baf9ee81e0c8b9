package http1

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const okLine = "HTTP/1.1 200 OK"

func TestResponsesRefused(t *testing.T) {
	tests := map[string]string{
		"http M16 two digits":                      wireHead("HTTP/1.1 20 "),
		"http M16 four digits":                     wireHead("HTTP/1.1 2000 OK"),
		"http M16 no digits":                       wireHead("HTTP/1.1 +20 OK"),
		"http M16 no status":                       wireHead("HTTP/1.1"),
		"http M16 two spaces":                      wireHead("HTTP/1.1  200 OK"),
		"http M16 tab":                             wireHead("HTTP/1.1\t200 OK"),
		"http M16 an empty line first":             "\r\n" + wireHead(okLine),
		"http S42 status below 100":                wireHead("HTTP/1.1 099 Low"),
		"another protocol":                         wireHead("ICY 200 OK"),
		"HTTP/2":                                   wireHead("HTTP/2.0 200 OK"),
		"HTTP/0.9":                                 "<html>\r\n</html>",
		"http M02 bare CR in the reason":           wireHead("HTTP/1.1 200 O\rK"),
		"http M03 LF for CRLF":                     "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
		"http M19 space before the colon":          wireHead(okLine, "X-B : 1"),
		"http M21, C092 fold":                      wireHead(okLine, "X-B: 1", "\t2"),
		"http M21 fold in Content-Length":          wireHead(okLine, "Content-Length:", " 2"),
		"http M04 space before the first field":    wireHead(okLine, " X-B: 1"),
		"http M26 both framings":                   wireHead(okLine, "Content-Length: 3", "Transfer-Encoding: chunked"),
		"http M27 coding in HTTP/1.0":              wireHead("HTTP/1.0 200 OK", "Transfer-Encoding: chunked"),
		"http M24 unknown coding":                  wireHead(okLine, "Transfer-Encoding: gzip, chunked"),
		"http M30 chunked is not the last":         wireHead(okLine, "Transfer-Encoding: chunked, gzip"),
		"http M32 list of lengths":                 wireHead(okLine, "Content-Length: 3, 3"),
		"http M32 two lengths":                     wireHead(okLine, "Content-Length: 3", "Content-Length: 4"),
		"http M32 negative length":                 wireHead(okLine, "Content-Length: -3"),
		"http M32 no digits":                       wireHead(okLine, "Content-Length: x"),
		"http M32 malformed length without a body": wireHead("HTTP/1.1 304 Not Modified", "Content-Length: x"),
		"http S24 length beyond 63 bits":           wireHead(okLine, "Content-Length: 9223372036854775808"),
		"C043 NUL in a value":                      wireHead(okLine, "X-B: a\x00b"),
		"C043 DEL in a value":                      wireHead(okLine, "X-B: a\x7fb"),
		"C091 no name":                             wireHead(okLine, ": 1"),
		"C230 20 MiB of header":                    wireHead(okLine, "X-B: "+strings.Repeat("x", 20<<20)),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := receiveResponse(t, http.MethodGet, text, 0, Limits{})
			wantRefused(t, err, http.StatusBadGateway)
		})
	}
}

func TestResponsesAccepted(t *testing.T) {
	length3 := wireHead(okLine, "Content-Length: 3")
	tests := []struct {
		name, method, text string
		want               string // status minor framing length persistent
		reason, body, rest string
	}{
		{"http M16 no reason", "GET", wireHead("HTTP/1.1 200 ", "Content-Length: 0"), "200 1 0 0 true", "", "", ""},
		{"http M16 no reason and no space", "GET", wireHead("HTTP/1.1 200", "Content-Length: 0"), "200 1 0 0 true", "", "", ""},
		{"http M16 reason with tab and bytes above ASCII", "GET", wireHead("HTTP/1.1 200 \tca \xe9", "Content-Length: 0"), "200 1 0 0 true", "\tca \xe9", "", ""},
		{"http S42 any status", "GET", wireHead("HTTP/1.1 999 Odd", "Content-Length: 0"), "999 1 0 0 true", "Odd", "", ""},
		{"http M06 HTTP/1.0", "GET", wireHead("HTTP/1.0 200 OK", "Content-Length: 3") + "abc", "200 0 1 3 false", "OK", "abc", ""},
		{"HTTP/1.0 kept alive", "GET", wireHead("HTTP/1.0 200 OK", "Content-Length: 0", "Connection: Keep-Alive"), "200 0 0 0 true", "OK", "", ""},
		{"http M29 HEAD", "HEAD", length3 + "abc", "200 1 0 3 true", "OK", "", "abc"},
		{"http M29 HEAD without length", "HEAD", wireHead(okLine), "200 1 0 -1 true", "OK", "", ""},
		{"http M29 HEAD, chunked", "HEAD", wireHead(okLine, "Transfer-Encoding: chunked"), "200 1 0 -1 true", "OK", "", ""},
		{"http M29 204", "GET", wireHead("HTTP/1.1 204 No Content", "Content-Length: 3") + "abc", "204 1 0 0 true", "No Content", "", "abc"},
		{"http M29 304", "GET", wireHead("HTTP/1.1 304 Not Modified", "Content-Length: 3") + "abc", "304 1 0 0 true", "Not Modified", "", "abc"},
		{"http M29 103", "GET", wireHead("HTTP/1.1 103 Early Hints") + "x", "103 1 0 0 true", "Early Hints", "", "x"},
		{"http M29 101", "GET", wireHead("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade") + "x", "101 1 0 0 true", "Switching Protocols", "", "x"},
		{"http M34 until the end", "GET", wireHead(okLine) + "abc", "200 1 3 -1 false", "OK", "abc", ""},
		{"http M36 surplus bytes", "GET", length3 + "abcHTTP/1.1 200 OK", "200 1 1 3 true", "OK", "abc", "HTTP/1.1 200 OK"},
		{"http M53 close", "GET", wireHead(okLine, "Content-Length: 0", "Connection: x", "Connection: ,, Close,"), "200 1 0 0 false", "OK", "", ""},
		{"http M22 chunked", "GET", wireHead(okLine, "Transfer-Encoding: Chunked", "", "3", "abc", "0"), "200 1 2 -1 true", "OK", "abc", ""},
		{"Expect means nothing here", "GET", wireHead(okLine, "Expect: x", "Content-Length: 0"), "200 1 0 0 true", "OK", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{0, 1, 7} {
				m, err := receiveResponse(t, tt.method, tt.text, piece, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				got := strings.Join([]string{
					strconv.Itoa(m.head.status), strconv.Itoa(m.head.minor), strconv.Itoa(int(m.head.framing)),
					strconv.FormatInt(m.head.length, 10), strconv.FormatBool(m.head.persistent()),
				}, " ")
				if got != tt.want || m.head.reason != tt.reason {
					t.Errorf("received %q %q, want %q %q", got, m.head.reason, tt.want, tt.reason)
				}
				if m.body != tt.body || m.rest != tt.rest {
					t.Errorf("body %q, then %q; want %q, then %q", m.body, m.rest, tt.body, tt.rest)
				}
			}
		})
	}
}

func TestResponseKeepsHost(t *testing.T) {
	m, err := receiveResponse(t, http.MethodGet, wireHead(okLine, "Host: a", "host: b", "Content-Length: 0"), 0, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := http.Header{"Host": {"a", "b"}, "Content-Length": {"0"}}
	if diff := cmp.Diff(want, m.header); diff != "" {
		t.Error(diff)
	}
}

// http M45, M48, M52.
func TestPersistence(t *testing.T) {
	tests := []struct {
		version, fields string
		want            bool
	}{
		{"1.1", "", true},
		{"1.1", "Connection: close", false},
		{"1.1", "Connection: keep-alive, CLOSE", false},
		{"1.1", "Connection: x-close", true},
		{"1.1", "Connection: a\r\nConnection: close", false},
		{"1.0", "", false},
		{"1.0", "Connection: keep-alive", true},
		{"1.0", "Connection: keep-alive, close", false},
		{"1.0", "Proxy-Connection: keep-alive", false},
		{"1.0", "Keep-Alive: 5", false},
		{"1.1", "Connection: " + strings.Repeat(",", 10_000) + "close", false}, // S06
	}
	for _, tt := range tests {
		m, err := receiveRequest(t, wireHead("GET / HTTP/"+tt.version, strings.TrimSuffix(hostLine+"\r\n"+tt.fields, "\r\n")), 0, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.head.persistent(); got != tt.want {
			t.Errorf("HTTP/%s %.40q: persistent is %v", tt.version, tt.fields, got)
		}
	}
}

func TestOptionsOfTheConnection(t *testing.T) {
	m, err := receiveRequest(t, wireHead(getLine, hostLine, "Connection: Upgrade, TE", "Upgrade: websocket", "Expect: 100-Continue"), 0, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if h := &m.head; !h.connection.has(upgradeOption) || h.upgrade != "websocket" || !h.expectContinue {
		t.Errorf("received %v %q %v", h.connection, h.upgrade, h.expectContinue)
	}
	m, err = receiveRequest(t, wireHead("GET / HTTP/1.0", "Expect: 100-continue"), 0, Limits{})
	if err != nil || m.head.expectContinue {
		t.Errorf("http S31 HTTP/1.0 expects %v, %v", m.head.expectContinue, err)
	}
}
