package http1_test

import (
	"bufio"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a response says of its fields when its handler has written all of it is what the
// client receives.
func TestSentFieldsAreThoseOnTheWire(t *testing.T) {
	names := []string{"Content-Length", "Transfer-Encoding", "Trailer", "Connection", "Date", "Content-Type", "X-A", "X-Own", "Keep-Alive"}
	type headSender interface {
		SendHead(status int, header http.Header, length int64) (bool, error)
	}
	elsewhere := func(status int, length int64, fields ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["X-Own"] = []string{"o"}
			header := http.Header{}
			for i := 0; i < len(fields); i += 2 {
				header[fields[i]] = append(header[fields[i]], fields[i+1])
			}
			_, _ = w.(headSender).SendHead(status, header, length)
			_, _ = io.WriteString(w, strings.Repeat("x", max(0, int(length))))
		}
	}
	own := func(write func(w http.ResponseWriter)) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["X-Own"] = []string{"o"}
			write(w)
		}
	}
	for name, test := range map[string]struct {
		request string
		handler http.HandlerFunc
	}{
		"a head from elsewhere":          {"GET / HTTP/1.1\nHost: g.test\n\n", elsewhere(200, 3, "Content-Type", "a/b", "X-A", "1", "X-A", "2", "Date", "long ago", "Content-Length", "99")},
		"without a date and a length":    {"GET / HTTP/1.1\nHost: g.test\n\n", elsewhere(200, -1, "X-Own", "second", "Transfer-Encoding", "gzip")},
		"fields of the hop":              {"GET / HTTP/1.1\nHost: g.test\n\n", elsewhere(200, 3, "Connection", "X-A", "X-A", "1", "Keep-Alive", "timeout=5")},
		"to HEAD":                        {"HEAD / HTTP/1.1\nHost: g.test\n\n", elsewhere(200, 3, "Content-Type", "a/b")},
		"not modified":                   {"GET / HTTP/1.1\nHost: g.test\n\n", elsewhere(304, -1, "X-A", "1")},
		"to a client that wants no more": {"GET / HTTP/1.1\nHost: g.test\nConnection: close\n\n", elsewhere(200, 3)},
		"HTTP/1.0 that wants more":       {"GET / HTTP/1.0\nConnection: keep-alive\n\n", elsewhere(200, 3)},
		"a type found out":               {"GET / HTTP/1.1\nHost: g.test\n\n", own(func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") })},
		"no body":                        {"GET / HTTP/1.1\nHost: g.test\n\n", own(func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) })},
		"flushed":                        {"GET / HTTP/1.1\nHost: g.test\n\n", own(func(w http.ResponseWriter) { w.(http.Flusher).Flush() })},
		"trailers": {"GET / HTTP/1.1\nHost: g.test\n\n", own(func(w http.ResponseWriter) {
			w.Header()["Trailer"] = []string{"X-Sum, X-A"}
			_, _ = io.WriteString(w, "body")
			w.Header()["X-A"] = []string{"1"}
		})},
		"what cannot be sent": {"GET / HTTP/1.1\nHost: g.test\n\n", own(func(w http.ResponseWriter) {
			w.Header()["X-A"] = []string{"a\nb"}
			w.WriteHeader(http.StatusOK)
		})},
	} {
		t.Run(name, func(t *testing.T) {
			told, ended := http.Header{}, make(chan struct{})
			addr := answering(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				sent := w.(interface{ SentField(name string) []string }).SentField
				if values := sent("X-Own"); values != nil {
					t.Errorf("before its time: %q", values)
				}
				test.handler(w, r)
				for _, name := range names {
					if values := sent(name); values != nil {
						told[name] = values
					}
				}
			})
			c := dialRaw(t, addr)
			c.send(crlf(test.request))
			in := textproto.NewReader(bufio.NewReader(c.conn))
			if _, err := in.ReadLine(); err != nil {
				t.Fatal(err)
			}
			received, err := in.ReadMIMEHeader()
			if err != nil {
				t.Fatal(err)
			}
			<-ended // some heads leave before that
			if diff := cmp.Diff(http.Header(received), told); diff != "" || len(told) == 0 {
				t.Errorf("received (-) and told (+):\n%s", diff)
			}
		})
	}
}
