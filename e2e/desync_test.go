package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// What follows a body that cannot be read is no request, whoever answers.
func TestNothingIsReadBehindABadBody(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+`
zuul.routes.dead: {path: /dead/**, url: "http://127.0.0.1:1"}
zuul.routes.nobody: {path: /nobody/**}
nobody.ribbon.listOfServers: 127.0.0.1:1
`)
	for _, path := range []string{"/url/x", "/service/x", "/dead/x", "/nobody/x", "/unknown"} {
		for name, body := range map[string]string{
			"no size":         "zz\r\n",
			"size too large":  "3\r\nabc\r\nffffffffffffffffff\r\n",
			"chunk too long":  "3\r\nabcX\r\n",
			"trailer":         "0\r\nX y\r\n\r\n",
			"NUL in trailer":  "0\r\nX: \x00\r\n\r\n",
			"after much else": "20000\r\n" + strings.Repeat("x", 0x20000) + "\r\nzz\r\n",
		} {
			t.Run(name+", "+path, func(t *testing.T) {
				t.Parallel()
				c := dial(t, g.Proxy)
				write(t, c, lines("POST "+path+" HTTP/1.1", "Host: g.test", "Transfer-Encoding: chunked")+body+smuggled)
				all, err := io.ReadAll(c) // a reset may follow the answer
				if found := statusLine.FindAllString(string(all), -1); len(found) != 1 || os.IsTimeout(err) {
					t.Errorf("%d answers to one request: %.500q, %v", len(found), all, err)
				}
			})
		}
	}
}

// An upstream that answers and leaves while the client still sends: the rest of the body
// is no request either.
func TestNothingOfABodyIsARequest(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(serveConns(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!") // to one that may be gone
		}
	})))
	last := lines("GET /url/last HTTP/1.1", "Host: g.test", "Connection: close") // for a connection that may be kept
	for _, kind := range kinds {
		for _, size := range []int{1, 2000, 7000} {
			for name, frame := range map[string]func(string) string{
				"with its length": func(b string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(b), b) },
				"in chunks":       func(b string) string { return "Transfer-Encoding: chunked\r\n\r\n" + chunked(b) },
			} {
				t.Run(name+", "+kind, func(t *testing.T) {
					t.Parallel()
					for range 10 {
						c := dial(t, g.Proxy)
						var sending sync.WaitGroup
						sending.Go(func() {
							_, _ = io.WriteString(c, "POST /"+kind+"/x HTTP/1.1\r\nHost: g.test\r\n"+frame(strings.Repeat(smuggled, size))+last) // may be cut
						})
						all, err := io.ReadAll(c)
						if os.IsTimeout(err) || strings.Contains(string(all), " 404 ") || strings.Contains(string(all), " 400 ") {
							t.Errorf("got %.500q, %v", all, err)
						}
						c.Close()
						sending.Wait()
					}
				})
			}
		}
	}
}
