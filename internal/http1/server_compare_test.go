package http1_test

import (
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

func native(h http.HandlerFunc) engine { return &http1.Server{Handler: h} }

func standard(h http.HandlerFunc) engine {
	return &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
}

// TestServerStrictness sends the same bytes to our server and to net/http's and
// compares the statuses that come back. The requests end so that both close.
// What only we refuse, or refuse in another way, is listed with both outcomes.
func TestServerStrictness(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	tests := []struct{ name, in, ours, theirs string }{
		{"http M02 bare CR in a value", "GET / HTTP/1.1\nHost: g\nX-A: a\rb\n\n", "400", "400"},
		{"http M03 bare LF as line end", strings.ReplaceAll(lastGet, "\r\n", "\x00"), "400", "200"},
		{"http M04 white space before the first field", "GET / HTTP/1.1\n X-A: 1\nHost: g\n\n", "400", "400"},
		{"http M05 not HTTP", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\n\n", "400", "400"},
		{"http M07 two spaces", "GET  / HTTP/1.1\nHost: g\n\n", "400", "400"},
		{"http M08 long method", "GET / HTTP/1.1\nHost: g\n\n" + strings.Repeat("M", 64) + " / HTTP/1.1\nHost: g\nConnection: close\n\n", "200 501", "200 200"},
		{"http M09 long target", "GET /" + strings.Repeat("a", 9000) + " HTTP/1.1\nHost: g\nConnection: close\n\n", "414", "200"},
		{"http M09 8000 octets", "GET /" + strings.Repeat("a", 8000) + " HTTP/1.1\nHost: g\nConnection: close\n\n", "200", "200"},
		{"http M10 space in the target", "GET /a b HTTP/1.1\nHost: g\n\n", "400", "400"},
		{"http M10 fragment", "GET /a#b HTTP/1.1\nHost: g\nConnection: close\n\n", "400", "200"},
		{"http M10 broken escape", "GET /%zz HTTP/1.1\nHost: g\nConnection: close\n\n", "400", "400"},
		{"http M11 C039 no Host", "GET / HTTP/1.1\n\n", "400", "400"},
		{"http M11 C039 two Hosts", "GET / HTTP/1.1\nHost: g\nHost: g\n\n", "400", "400"},
		{"http M11 C039 empty Host", "GET / HTTP/1.1\nHost:\nConnection: close\n\n", "400", "200"},
		{"http M11 C039 path in Host", "GET / HTTP/1.1\nHost: g/evil\nConnection: close\n\n", "400", "400"},
		{"http M11 C039 user in Host", "GET / HTTP/1.1\nHost: g@evil\nConnection: close\n\n", "400", "400"},
		{"http M14 authority form", "GET a:80 HTTP/1.1\nHost: g\nConnection: close\n\n", "400", "200"},
		{"http M18 C091 space before the colon", "GET / HTTP/1.1\nHost: g\nX-A : 1\n\n", "400", "400"},
		{"http M20 C092 folded line", "GET / HTTP/1.1\nHost: g\nX-A: 1\n 2\nConnection: close\n\n", "400", "200"},
		{"http M24 unknown coding", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding: gzip, chunked\n\n", "501", "501"},
		{"http M26 C083 both framings", "POST / HTTP/1.1\nHost: g\nContent-Length: 5\nTransfer-Encoding: chunked\nConnection: close\n\n0\n\n", "400", "200"},
		{"http M27 chunked in 1.0", "POST / HTTP/1.0\nTransfer-Encoding: chunked\n\n0\n\n", "400", "200"},
		{"http M30 not chunked in the end", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding: chunked, gzip\n\n", "400", "501"},
		{"http M30 C087 x", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding: xchunked\n\n", "400", "501"},
		{"http M30 C087 chunked twice", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding: chunked, chunked\n\n", "400", "501"},
		{"http M30 C087 two lines", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding: chunked\nTransfer-Encoding: x\n\n", "400", "501"},
		{"http M18 C087 space before the colon", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding : chunked\n\n", "400", "400"},
		{"http M46 C087 underscore", "POST / HTTP/1.1\nHost: g\nTransfer_Encoding: chunked\n\n1\nZ\n0\n\n", "200 400", "200 400"},
		{"http S04 C041 vertical tab in Host", "GET / HTTP/1.1\nHost: g.test\x0bX\n\n", "400", "400"},
		{"http M31 C085 two lengths", "POST / HTTP/1.1\nHost: g\nContent-Length: 1\nContent-Length: 2\n\nab", "400", "400"},
		{"http M31 C085 equal lengths", "POST / HTTP/1.1\nHost: g\nContent-Length: 1\nContent-Length: 1\nConnection: close\n\na", "400", "200"},
		{"http M31 C085 plus sign", "POST / HTTP/1.1\nHost: g\nContent-Length: +1\n\na", "400", "400"},
		{"http S24 C066 25 digits", "POST / HTTP/1.1\nHost: g\nContent-Length: 9999999999999999999999999\n\n", "400", "400"},
		{"http M37 chunk size overflow", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding: chunked\n\nfffffffffffffffff\n", "400", "400"},
		{"http M42 C089 LF after the chunk", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding: chunked\n\n1\nZ\x000\n\n", "400", "400"},
		{"http M38 endless extensions", "POST / HTTP/1.1\nHost: g\nTransfer-Encoding: chunked\n\n1;" + strings.Repeat("x", 9000), "400", "400"},
		{"http S04 C043 NUL in a value", "GET / HTTP/1.1\nHost: g\nX-A: a\x01b\n\n", "400", "400"},
		{"http S31 C073 unknown expectation", "GET / HTTP/1.1\nHost: g\nExpect: foo\n\n", "417", "417"},
		{"http Z01 C230 too many fields", "GET / HTTP/1.1\nHost: g\n" + strings.Repeat("A: 1\n", 200) + "Connection: close\n\n", "431", "200"},
		{"http Z01 C230 a giant field", "GET / HTTP/1.1\nHost: g\nX-A: " + strings.Repeat("a", 2<<20), "431", "431"},
		{"http M06 version 2.0", "GET / HTTP/2.0\nHost: g\n\n", "505", "505"},
	}
	ours, theirs := serving(t, native(echo)), serving(t, standard(echo))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := strings.ReplaceAll(crlf(test.in), "\x00", "\n")
			for engine, want := range map[string]string{ours: test.ours, theirs: test.theirs} {
				c := dialRaw(t, engine)
				_, _ = io.WriteString(c.conn, in) // net/http waits half a second for the rest
				answer, _ := io.ReadAll(c.conn)   // and resets what it has not read
				if got := statuses(string(answer)); got != want {
					t.Errorf("native %v: status %s, want %s", engine == ours, got, want)
				}
				if got := statuses(exchange(t, engine, lastGet)); got != "200" {
					t.Errorf("native %v: canary %s", engine == ours, got)
				}
			}
		})
	}
}
