package gozer_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// What serves one request serves the next one too. These clients make each other's
// memory go round; what is used after its time, the race detector reports.
func TestLentMemory(t *testing.T) {
	upstream := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Id")
		w.Header().Set("X-Id", id)
		switch r.URL.Path {
		case "/sum":
			w.Header().Set("Trailer", "X-Sum")
		case "/early": // with most of the body still to come
			w.WriteHeader(http.StatusAccepted)
			_ = http.NewResponseController(w).Flush() // the client sees it
		case "/upload":
			_, _ = io.Copy(io.Discard, r.Body)
		}
		_, _ = io.WriteString(w, id)
		_ = http.NewResponseController(w).Flush() // as above
		if r.URL.Path == "/sum" {
			w.Header().Set("X-Sum", id)
		}
	}))
	addr := proxyingTo(t, "native", upstream.Addr)
	var clients sync.WaitGroup
	for n := range 16 {
		clients.Go(func() {
			for round := range 40 {
				converse(t, addr, fmt.Sprint(n, "-", round))
			}
		})
	}
	clients.Wait()
}

// converse sends six requests at once, of which the last but one has a body that its
// answer does not wait for, and expects six answers unless the connection is closed after
// one.
func converse(t *testing.T, addr, id string) {
	t.Helper()
	conn := connect(t, addr)
	if conn == nil {
		return
	}
	defer conn.Close()
	field := "Host: g\r\nX-Id: " + id + "\r\n"
	chunks := strings.Repeat("3e8\r\n"+strings.Repeat("x", 1000)+"\r\n", 40) + "0\r\nX-Up: 1\r\n\r\n"
	go func() { // the gateway may stop to read
		_, _ = io.WriteString(conn, strings.Repeat("GET /users/chunked HTTP/1.1\r\n"+field+"\r\n", 3)+"GET /users/sum HTTP/1.1\r\n"+field+"\r\n"+
			"POST /users/early HTTP/1.1\r\n"+field+"Transfer-Encoding: chunked\r\nTrailer: X-Up\r\n\r\n"+chunks+
			"POST /users/upload HTTP/1.1\r\n"+field+"Transfer-Encoding: chunked\r\n\r\n"+chunks)
	}()
	readAnswers(t, conn, id)
}

func readAnswers(t *testing.T, conn net.Conn, id string) {
	t.Helper()
	in := bufio.NewReader(conn)
	for n := range 6 {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return // closed behind an answer
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err == nil && (string(body) != id || res.Header.Get("X-Id") != id || n == 3 && res.Trailer.Get("X-Sum") != id) {
			t.Errorf("%s: %q, %v, %v", id, body, res.Header, res.Trailer)
		}
		if res.Close || err != nil {
			return
		}
	}
}
