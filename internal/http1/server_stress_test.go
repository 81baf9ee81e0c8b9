package http1_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// TestServerDisorder lets clients pipeline, leave, reset and half-close as they
// like, through both sides of this package. Every response that arrives whole
// belongs to its request, and nothing is left behind (see TestMain).
func TestServerDisorder(t *testing.T) {
	upstream := answering(t, func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("id")
		w.Header()["Content-Type"] = nil
		if strings.HasSuffix(id, "7") {
			_ = http.NewResponseController(w).Flush() // chunked
		}
		_, _ = io.WriteString(w, "<"+id+">"+strings.Repeat(id, len(id)*len(id)*100))
	})
	addr, _ := relaying(t, upstream, &http1.Server{IdleTimeout: 10 * time.Second})
	var clients sync.WaitGroup
	for n := range 20 {
		clients.Go(func() {
			for round := range 10 {
				misbehave(t, addr, n*1000+round*100)
			}
		})
	}
	clients.Wait()
}

// misbehave sends some requests and reads some of the answers.
func misbehave(t *testing.T, addr string, id int) {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	count := 1 + rand.IntN(4)
	for n := range count {
		_, _ = fmt.Fprintf(conn, "GET /?id=%d HTTP/1.1\r\nHost: g\r\n\r\n", id+n)
	}
	var got []byte
	switch rand.IntN(4) {
	case 0:
		_ = conn.(*net.TCPConn).SetLinger(0)
		return
	case 1:
		got = make([]byte, 5000)
		n, _ := conn.Read(got)
		got = got[:n]
	case 2:
		_ = conn.(*net.TCPConn).CloseWrite()
		got, _ = io.ReadAll(conn)
	default:
		_, _ = io.WriteString(conn, lastGet)
		got, _ = io.ReadAll(conn)
		if answers := statuses(string(got)); answers != strings.Repeat("200 ", count)+"200" {
			t.Errorf("%d requests, statuses %s", count+1, answers)
		}
	}
	for n, answer := range strings.Split(string(got), "HTTP/1.1 ")[1:] {
		_, found, begun := strings.Cut(answer, "<") // there is no body if the client was taken for one that has left
		if want := strconv.Itoa(id + n); n < count && begun && len(found) > len(want) && !strings.HasPrefix(found, want+">") {
			t.Errorf("response %d is %.20q, want %s", n, found, want)
		}
	}
}
