package http1_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
)

// C098, C125: what a server sends or closes while a connection idles is seen
// before the connection is used again.
func TestIdleConnectionIsLookedAt(t *testing.T) {
	for name, mischief := range map[string]func(*peer){
		"C098 unasked response": func(p *peer) { p.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil") },
		"C098 408 and close": func(p *peer) {
			p.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
			p.Close()
		},
		"C125 close":       func(p *peer) { p.Close() },
		"half close":       func(p *peer) { _ = p.CloseWrite() },
		"reset":            func(p *peer) { _ = p.SetLinger(0); p.Close() },
		"C098 surplus LF":  func(p *peer) { p.send("\n") },
		"S43 unasked 103":  func(p *peer) { p.send("HTTP/1.1 103 Early Hints\r\n\r\n") },
		"C098 second body": func(p *peer) { p.send("ok") },
	} {
		t.Run(name, func(t *testing.T) {
			u, transport := listen(t), newTransport(t, http1.TransportSettings{})
			done, sent := make(chan struct{}), make(chan string, 1)
			go func() {
				first := u.accept()
				first.await("\r\n\r\n")
				first.send(okReply)
				<-done
				mischief(first)
				done <- struct{}{}
				second := u.accept()
				sent <- second.await("\r\n\r\n")
				second.send(okReply)
			}()
			fetch(t, transport, "GET", u.url()).wantOK(t)
			done <- struct{}{}
			<-done
			roundTrip(t, transport, newRequest(t.Context(), t, "POST", u.url(), http.NoBody)).wantOK(t)
			if !strings.HasPrefix(<-sent, "POST ") {
				t.Error("the second request did not get a connection of its own")
			}
		})
	}
}

// C125: nobody has to come for a connection that the server has closed.
func TestSweeperClosesWhatServersHaveClosed(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	closed := make(chan error)
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send(okReply)
		_ = p.CloseWrite()
		_ = p.SetReadDeadline(time.Now().Add(20 * time.Second))
		_, err := p.Read(make([]byte, 1))
		closed <- err
	}()
	fetch(t, transport, "GET", u.url()).wantOK(t)
	if err := <-closed; !errors.Is(err, io.EOF) {
		t.Errorf("the client's end is not closed: %v", err)
	}
}

func TestIdleTimeout(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{IdleTimeout: 30 * time.Millisecond})
	closed := make(chan bool)
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send(okReply)
		closed <- p.ended()
	}()
	fetch(t, transport, "GET", u.url()).wantOK(t)
	if !<-closed {
		t.Error("C140 a connection idles beyond its time")
	}
}

func TestLifetime(t *testing.T) {
	raw, transport := replies(t, okReply, okReply), newTransport(t, http1.TransportSettings{MaxLifetime: time.Nanosecond})
	for range 2 {
		fetch(t, transport, "GET", "http://"+raw.Addr).wantOK(t)
	}
	if n := len(raw.Received()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

func TestLastUsedFirst(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	served := make(chan int)
	go func() {
		for n := 0; ; n++ {
			p := u.accept()
			if p == nil {
				return
			}
			go func() {
				for p.await("\r\n\r\n") != "" {
					served <- n
					p.send(okReply)
				}
			}()
		}
	}()
	open := func() io.Closer {
		res, err := transport.RoundTrip(newRequest(t.Context(), t, "GET", u.url(), http.NoBody))
		if err != nil {
			t.Error(err)
			return io.NopCloser(nil)
		}
		return res.Body
	}
	bodies := make(chan io.Closer, 2)
	for range 2 {
		go func() { bodies <- open() }()
		<-served
	}
	(<-bodies).Close()
	(<-bodies).Close()
	var used [3]int
	for i := range used {
		go func() { bodies <- open() }()
		used[i] = <-served
		(<-bodies).Close()
	}
	if used[0] != used[1] || used[1] != used[2] {
		t.Errorf("requests in turn used connections %v, want always the same", used)
	}
}

// C141: waiting for a place has an end, is fair, and other hosts are unaffected.
func TestPlaces(t *testing.T) {
	release := make(chan struct{})
	slow := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
			io.WriteString(w, "ok")
		case <-r.Context().Done():
		}
	}))
	other := backendtest.Start(t, backendtest.Answer(200, "ok"))
	transport := newTransport(t, http1.TransportSettings{MaxPerHost: 2, MaxTotal: 3, AcquireTimeout: 3 * time.Second})
	answers := make(chan answer, 20)
	for range cap(answers) {
		go func() { answers <- fetch(t, transport, "GET", slow.URL()) }()
	}
	for range cap(answers) - 2 {
		if a := <-answers; !errors.Is(a.err, http1.ErrPoolExhausted) || !nothingSent(a.err) {
			t.Fatalf("error %v, want an exhausted pool", a.err)
		}
	}
	fetch(t, transport, "GET", other.URL()).wantOK(t)
	waiting := make(chan answer, 1)
	go func() { waiting <- fetch(t, transport, "GET", slow.URL()) }()
	close(release)
	for range 2 {
		(<-answers).wantOK(t)
	}
	(<-waiting).wantOK(t)
	if n := slow.Connections(); n > 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// Places are neither lost nor made up, however requests for them end.
func TestPlacesUnderContention(t *testing.T) {
	servers := []*backendtest.Backend{
		backendtest.Start(t, backendtest.Answer(200, "ok")),
		backendtest.Start(t, backendtest.Answer(200, "ok")),
		backendtest.Start(t, backendtest.HangUp()),
	}
	transport := newTransport(t, http1.TransportSettings{MaxPerHost: 2, MaxTotal: 3, AcquireTimeout: 20 * time.Second})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			for j := range 30 {
				ctx, cancel := context.WithCancel(t.Context())
				if (i+j)%4 == 0 {
					time.AfterFunc(time.Duration(j)*10*time.Microsecond, cancel)
				}
				s := servers[(i+j)%3]
				a := roundTrip(t, transport, newRequest(ctx, t, "GET", s.URL(), http.NoBody))
				if a.err != nil && ctx.Err() == nil && s != servers[2] {
					t.Error(a.err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	var open sync.WaitGroup
	for i := range 3 { // all three places at once
		open.Go(func() { fetch(t, transport, "GET", servers[i%2].URL()).wantOK(t) })
	}
	open.Wait()
}

// M49, S26, C140: a connection that dies as the request is written.
func TestDeadConnectionOnReuse(t *testing.T) {
	tests := []struct {
		name, method string
		body         io.Reader
		repeated     bool
	}{
		{"M49 GET", "GET", http.NoBody, true},
		{"M49 HEAD", "HEAD", http.NoBody, true},
		{"M49 GET with a short body", "GET", strings.NewReader("body"), true},
		{"C140 POST", "POST", strings.NewReader("body"), false},
		{"C140 POST without a body", "POST", http.NoBody, false},
		{"S26 PATCH", "PATCH", http.NoBody, false},
		{"S26 unknown method", "PURGE", http.NoBody, false},
		{"C135 with a long body", "GET", strings.NewReader(strings.Repeat("x", 100<<10)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, transport := listen(t), newTransport(t, http1.TransportSettings{})
			var deliveries []string
			over := make(chan struct{})
			go func() {
				defer close(over)
				for p := u.accept(); p != nil; p = u.accept() {
					if head := p.await("\r\n\r\n"); !strings.HasPrefix(head, "GET /warm") {
						deliveries = append(deliveries, head)
						p.send(okReply)
						continue
					}
					p.send(okReply)
					deliveries = append(deliveries, p.await("\r\n\r\n"))
					p.Close()
				}
			}()
			fetch(t, transport, "GET", u.url()+"/warm").wantOK(t)
			a := roundTrip(t, transport, newRequest(t.Context(), t, tt.method, u.url(), tt.body))
			u.l.Close()
			<-over
			if (a.err == nil) != tt.repeated {
				t.Errorf("error %v", a.err)
			}
			if a.err != nil && nothingSent(a.err) {
				t.Error("the request is said not to have been sent")
			}
			if want := map[bool]int{true: 2, false: 1}[tt.repeated]; len(deliveries) != want {
				t.Errorf("%d deliveries, want %d", len(deliveries), want)
			}
		})
	}
}

// C140: a connection that dies while a slow client sends its body is noticed
// before anything is sent.
func TestConnectionDiesWhileTheBodyIsRead(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	reading, died := make(chan struct{}), make(chan struct{})
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send(okReply)
		<-reading
		p.Close()
		close(died)
		p = u.accept()
		p.await("\r\n\r\nbody")
		p.send(okReply)
	}()
	fetch(t, transport, "GET", u.url()).wantOK(t)
	body := readerFunc(func(p []byte) (int, error) {
		close(reading)
		<-died
		return copy(p, "body"), nil
	})
	req := newRequest(t.Context(), t, "POST", u.url(), body)
	req.ContentLength = 4
	roundTrip(t, transport, req).wantOK(t)
}

// A second failure is final, and a new connection that fails is not replaced.
func TestOneRepetitionOnly(t *testing.T) {
	b := backendtest.Start(t, backendtest.Answer(200, "ok"))
	transport := newTransport(t, http1.TransportSettings{})
	fetch(t, transport, "GET", b.URL()).wantOK(t)
	b.Use(backendtest.HangUp())
	if a := fetch(t, transport, "GET", b.URL()); a.err == nil || nothingSent(a.err) {
		t.Fatalf("error %v", a.err)
	}
	if n := b.Requests(); n != 3 {
		t.Errorf("%d deliveries, want 3", n)
	}
	fetch(t, transport, "GET", b.URL())
	if n := b.Requests(); n != 4 {
		t.Errorf("%d deliveries, want 4", n)
	}
}

func TestRefusedConnection(t *testing.T) {
	b := backendtest.Start(t, backendtest.Answer(200, "ok"))
	b.Kill()
	a := roundTrip(t, newTransport(t, http1.TransportSettings{}), newRequest(t.Context(), t, "POST", b.URL(), strings.NewReader("x")))
	if !nothingSent(a.err) {
		t.Errorf("error %v, want a failure before anything was sent", a.err)
	}
}

func TestCloseIdle(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	closed := make(chan bool)
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send(okReply)
		closed <- p.ended()
	}()
	fetch(t, transport, "GET", u.url()).wantOK(t)
	transport.CloseIdle()
	if !<-closed {
		t.Error("an idle connection is still open")
	}
}
