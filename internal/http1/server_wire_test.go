package http1_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestServerResponses compares whole responses byte by byte. Every stream of
// requests ends with one that closes the connection.
func TestServerResponses(t *testing.T) {
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, body)
		}
	}
	tests := map[string]struct {
		handler  http.HandlerFunc
		in, want string
	}{
		"small body": {text("hello"), lastGet, "HTTP/1.1 200 OK\nContent-Length: 5\nConnection: close\n\nhello"},
		"no body":    {func(http.ResponseWriter, *http.Request) {}, lastGet, "HTTP/1.1 200 OK\nContent-Length: 0\nConnection: close\n\n"},
		"status only": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
			lastGet, "HTTP/1.1 404 Not Found\nContent-Length: 0\nConnection: close\n\n",
		},
		"http M17 code without a name": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(599) },
			lastGet, "HTTP/1.1 599 \nContent-Length: 0\nConnection: close\n\n",
		},
		"http M44 pipelined requests": {
			func(w http.ResponseWriter, r *http.Request) { text(r.URL.Path)(w, r) },
			strings.ReplaceAll(get, "/ ", "/a ") + strings.ReplaceAll(get, "/ ", "/b ") + strings.ReplaceAll(lastGet, "/ ", "/c "),
			"HTTP/1.1 200 OK\nContent-Length: 2\n\n/aHTTP/1.1 200 OK\nContent-Length: 2\n\n/bHTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\n/c",
		},
		"http M52 nothing after close": {
			text("x"), lastGet + get, "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"http M01 an empty line in front": {
			text("x"), "\r\n" + lastGet, "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"http M45 1.0 closes": {
			text("x"), "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"http M45 1.0 with keep-alive": {
			text("x"), "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET / HTTP/1.0\r\n\r\n",
			"HTTP/1.1 200 OK\nContent-Length: 1\nConnection: keep-alive\n\nxHTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"http M48 no guess at Proxy-Connection": {
			text("x"), "GET / HTTP/1.0\r\nProxy-Connection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"http S06 empty list members": {
			text("x"), "GET / HTTP/1.1\r\nHost: g\r\nConnection: ,, close,\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"http S28 C074 HEAD": {
			text("hello"), "HEAD / HTTP/1.1\r\nHost: g\r\n\r\n" + lastGet,
			"HTTP/1.1 200 OK\nContent-Length: 5\n\nHTTP/1.1 200 OK\nContent-Length: 5\nConnection: close\n\nhello",
		},
		"http S28 C074 HEAD with the length of a GET": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "12345") },
			"HEAD / HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 12345\nConnection: close\n\n",
		},
		"http M29 204": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "5")
				w.WriteHeader(http.StatusNoContent)
				if _, err := io.WriteString(w, "hello"); !errors.Is(err, http.ErrBodyNotAllowed) {
					panic(err)
				}
			},
			lastGet, "HTTP/1.1 204 No Content\nConnection: close\n\n",
		},
		"http M29 304 keeps the length it stands for": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "5")
				w.WriteHeader(http.StatusNotModified)
			},
			lastGet, "HTTP/1.1 304 Not Modified\nContent-Length: 5\nConnection: close\n\n",
		},
		"http M23 M28 one framing": {
			func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Transfer-Encoding"] = []string{"chunked", "gzip"}
				w.Header().Set("Content-Length", "1")
				text("x")(w, r)
			},
			lastGet, "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"http S23 a length that is none": {
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "+1")
				text("x")(w, r)
			},
			lastGet, "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"flushed": {
			func(w http.ResponseWriter, r *http.Request) {
				text("one")(w, r)
				w.(http.Flusher).Flush()
				text("two")(w, r)
			},
			lastGet, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nConnection: close\n\n3\none\n3\ntwo\n0\n\n",
		},
		"http M25 flushed for 1.0": {
			func(w http.ResponseWriter, r *http.Request) {
				text("one")(w, r)
				w.(http.Flusher).Flush()
				text("two")(w, r)
			},
			"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK\nConnection: close\n\nonetwo",
		},
		"http M39 S07 trailers, announced and not": {
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Trailer", "X-Sum, Content-Length")
				w.Header().Set("X-Sum", "early")
				text("body")(w, r)
				w.Header().Set("X-Sum", "late")
				w.Header().Set(http.TrailerPrefix+"X-More", "1")
				w.Header().Set(http.TrailerPrefix+"Transfer-Encoding", "1")
			},
			"GET / HTTP/1.1\r\nHost: g\r\n\r\n" + "GET / HTTP/1.0\r\n\r\n",
			"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nTrailer: X-Sum\n\n4\nbody\n0\nX-Sum: late\nX-More: 1\n\n" +
				"HTTP/1.1 200 OK\nContent-Length: 4\nConnection: close\n\nbody",
		},
		"trailers without a body, unannounced": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(http.TrailerPrefix+"X-More", "1") },
			lastGet, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nConnection: close\n\n0\nX-More: 1\n\n",
		},
		"http S43 interim responses": {
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Link", "</a>")
				w.WriteHeader(http.StatusEarlyHints)
				w.WriteHeader(199)
				w.Header().Del("Link")
				text("x")(w, r)
			},
			get + "GET / HTTP/1.0\r\n\r\n",
			"HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 199 \nLink: </a>\n\nHTTP/1.1 200 OK\nContent-Length: 1\n\nx" +
				"HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"the handler closes": {
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Connection", "x, Close")
				text("x")(w, r)
			},
			get, "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx",
		},
		"fields after the head are too late": {
			func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				w.Header().Set("X-Late", "1")
				w.WriteHeader(http.StatusOK)
				_ = r
			},
			lastGet, "HTTP/1.1 202 Accepted\nContent-Length: 0\nConnection: close\n\n",
		},
		"http S04 M55 no response splitting": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-A", "a\r\nX-B: b")
				if _, err := io.WriteString(w, "x"); err == nil {
					panic("a body was accepted")
				}
			},
			get, "HTTP/1.1 500 Internal Server Error\nContent-Length: 0\nConnection: close\n\n",
		},
		"http M15 OPTIONS *": {
			nil, "OPTIONS * HTTP/1.1\r\nHost: g\r\n\r\nOPTIONS http://g HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n",
			"HTTP/1.1 200 OK\nContent-Length: 0\n\nHTTP/1.1 200 OK\nContent-Length: 0\nConnection: close\n\n",
		},
		"type found out": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "6")
				_, _ = io.WriteString(w, "<html>")
			},
			lastGet, "HTTP/1.1 200 OK\nContent-Type: text/html; charset=utf-8\nContent-Length: 6\nConnection: close\n\n<html>",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := exchange(t, answering(t, test.handler), test.in)
			if diff := cmp.Diff(crlf(test.want), got); diff != "" && !sameTrailers(crlf(test.want), got) {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// sameTrailers compares responses whose two trailer fields may change places.
func sameTrailers(want, got string) bool {
	const one, other = "X-Sum: late\r\n", "X-More: 1\r\n"
	return want == strings.Replace(got, other+one, one+other, 1)
}

// TestServerRequests shows what a handler sees of a request.
func TestServerRequests(t *testing.T) {
	describe := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s host=%s path=%q raw=%q query=%q length=%d te=%v close=%v body=%q err=%v trailer=%v header=%v",
			r.Method, r.RequestURI, r.Proto, r.Host, r.URL.Path, r.URL.RawPath, r.URL.RawQuery, r.ContentLength, r.TransferEncoding,
			r.Close, body, err, r.Trailer, r.Header)
	}
	requests := map[string]string{
		"plain":                     lastGet,
		"http M13 absolute form":    "GET http://h.test:80/a?b HTTP/1.1\nHost: g.test\nConnection: close\n\n",
		"escapes":                   "GET /a%2Fb%20c/%C3%A9?q=%20&x HTTP/1.1\nHost: g.test\nConnection: close\n\n",
		"odd path":                  "GET /a(b)!*'[x]?? HTTP/1.1\nHost: g.test\nConnection: close\n\n",
		"http S02 S05 fields":       "GET / HTTP/1.1\nHost: g.test\nX-A: \t 1 \t\nx-a: 2\ncookie: a=1\nConnection: close\n\n",
		"http M22 chunked":          "POST / HTTP/1.1\nHost: g.test\nTransfer-Encoding: Chunked\nTrailer: X-Sum\nConnection: close\n\n3\nabc\n2;x=y\nde\n0\nX-Sum: 1\n\n",
		"http S27 body of a GET":    "GET / HTTP/1.1\nHost: g.test\nContent-Length: 3\nConnection: close\n\nabc",
		"C067 empty POST":           "POST / HTTP/1.1\nHost: g.test\nContent-Length: 0\nConnection: close\n\n",
		"http S25 methods":          "pUrGe / HTTP/1.1\nHost: g.test\nConnection: close\n\n",
		"http M45 1.0 without Host": "GET / HTTP/1.0\n\n",
		"http M33 cut short":        "POST / HTTP/1.1\nHost: g.test\nContent-Length: 10\nConnection: close\n\nabc",
	}
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			half := strings.HasPrefix(name, "http M33")
			var got [2]string
			for n, s := range []engine{native(describe), standard(describe)} {
				c := dialRaw(t, serving(t, s))
				c.send(crlf(strings.ReplaceAll(request, "\r\n", "\n")))
				if half {
					_ = c.conn.CloseWrite()
				}
				_, got[n], _ = strings.Cut(c.rest(), "\r\n\r\n")
			}
			if diff := cmp.Diff(got[1], got[0]); diff != "" || got[0] == "" {
				t.Errorf("-net/http +ours\n%s", diff)
			}
		})
	}
}
