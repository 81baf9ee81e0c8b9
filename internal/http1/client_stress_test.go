package http1_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// moody answers every request with its own path, and behaves badly now and then
// as the path demands.
func moody(p *peer, open *sync.WaitGroup) {
	defer open.Done()
	defer p.Close()
	for {
		head := p.await("\r\n\r\n")
		if head == "" {
			return
		}
		path := strings.Fields(head)[1]
		var length int
		if _, after, ok := strings.Cut(head, "Content-Length: "); ok {
			_, _ = fmt.Sscan(after, &length)
			p.await("end of body")
		}
		reply := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(path), path)
		switch mood, _, _ := strings.Cut(path[1:], "-"); mood {
		case "cut":
			p.send(reply[:len(reply)-1])
			return
		case "reset":
			_ = p.SetLinger(0)
			return
		case "surplus":
			p.send(reply + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
		case "half":
			p.send(reply)
			_ = p.CloseWrite()
		case "chunks":
			p.send(fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n/\r\n%x\r\n%s\r\n0\r\n\r\n", len(path)-1, path[1:]))
		case "hang":
		default:
			p.send(reply)
		}
	}
}

// Whatever servers and clients do, a response belongs to its request, and
// nothing is left behind.
func TestNoResponseGoesAstray(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{ReadTimeout: 50 * time.Millisecond, AcquireTimeout: 10 * time.Second, MaxPerHost: 6})
	var open sync.WaitGroup
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		for p := u.accept(); p != nil; p = u.accept() {
			open.Add(1)
			go moody(p, &open)
		}
	}()
	moods := []string{"good", "good", "good", "chunks", "cut", "reset", "surplus", "half", "hang", "leave", "unread"}
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := range 100 {
				mood := moods[rand.IntN(len(moods))]
				visit(t, transport, u.url(), fmt.Sprintf("/%s-%d-%d", mood, client, i), mood)
			}
		})
	}
	clients.Wait()
	transport.CloseIdle()
	u.l.Close()
	<-accepting
	open.Wait() // for the servers' ends of all connections
}

// visit makes one request; only its own answer, or an error, may come.
func visit(t *testing.T, transport http.RoundTripper, url, path, mood string) {
	t.Helper()
	ctx, gone := http1.InterruptibleContext(t.Context())
	defer gone()
	if mood == "leave" {
		time.AfterFunc(time.Duration(rand.IntN(500))*time.Microsecond, gone)
	}
	if rand.IntN(3) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
	}
	var body io.Reader
	switch rand.IntN(4) {
	case 0:
		body = strings.NewReader("short, end of body")
	case 1:
		body = strings.NewReader(strings.Repeat("x", 40<<10) + "end of body")
	}
	res, err := transport.RoundTrip(newRequest(ctx, t, []string{"GET", "POST"}[rand.IntN(2)], url+path, body))
	if err != nil {
		return
	}
	defer res.Body.Close()
	if mood == "unread" {
		return
	}
	if got, err := io.ReadAll(res.Body); err == nil && string(got) != path {
		t.Errorf("%s was answered with %q", path, got)
	} else if !strings.HasPrefix(path, string(got)) {
		t.Errorf("%s got the bytes %q", path, got)
	}
}
