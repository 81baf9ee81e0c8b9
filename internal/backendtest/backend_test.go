package backendtest_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newClient(t *testing.T) *http.Client {
	t.Helper()
	rt := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(rt.CloseIdleConnections)
	return &http.Client{Transport: rt}
}

func do(ctx context.Context, c *http.Client, method, url, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return c.Do(req)
}

// ask returns the body of a GET.
func ask(t *testing.T, c *http.Client, b *backendtest.Backend) (string, error) {
	t.Helper()
	res, err := do(t.Context(), c, http.MethodGet, b.URL(), "")
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// eventually asks again and again until ok says yes.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(time.Minute); !ok(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func wantAnswer(t *testing.T, c *http.Client, b *backendtest.Backend, want string) {
	t.Helper()
	if got, err := ask(t, c, b); err != nil || got != want {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
}

func wantRefused(t *testing.T, c *http.Client, b *backendtest.Backend) {
	t.Helper()
	if got, err := ask(t, c, b); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("got %q, %v; want connection refused", got, err)
	}
}

func TestCounts(t *testing.T) {
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, "hi"))
	c := dial(t, b.Addr)
	in := bufio.NewReader(c)
	for range 3 {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: b\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	if b.Requests() != 3 || b.Connections() != 1 {
		t.Fatalf("%d requests on %d connections, want 3 on 1", b.Requests(), b.Connections())
	}
}

func TestKillAndRevive(t *testing.T) {
	b, c := backendtest.Start(t, backendtest.Answer(http.StatusOK, "alive")), newClient(t)
	addr := b.Addr
	wantAnswer(t, c, b, "alive")
	b.Kill()
	wantRefused(t, c, b)
	b.Revive()
	wantAnswer(t, c, b, "alive")
	if b.Addr != addr || b.Connections() != 2 {
		t.Fatalf("at %s after %d connections, want %s after 2", b.Addr, b.Connections(), addr)
	}
}

func TestPortOfTheDeadIsKept(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a socket that has been shut cannot listen again")
	}
	b, c := backendtest.Start(t, backendtest.Answer(http.StatusOK, "back")), newClient(t)
	for range 3 {
		wantAnswer(t, c, b, "back")
		b.Kill()
		var other net.ListenConfig
		if l, err := other.Listen(t.Context(), "tcp", b.Addr); !errors.Is(err, syscall.EADDRINUSE) {
			if err == nil {
				l.Close()
			}
			t.Fatalf("somebody else asked for the port of the dead: %v, want that it is taken", err)
		}
		wantRefused(t, c, b)
		b.Revive()
	}
}

func TestKillFinishesWhatIsInFlight(t *testing.T) {
	arrived, finish := make(chan struct{}), make(chan struct{})
	b, c := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-finish
		io.WriteString(w, "finished")
	})), newClient(t)
	answer := make(chan string, 1)
	go func() {
		got, err := ask(t, c, b)
		if err != nil {
			got = err.Error()
		}
		answer <- got
	}()
	<-arrived
	b.Kill()
	wantRefused(t, newClient(t), b)
	close(finish)
	if got := <-answer; got != "finished" {
		t.Fatalf("the request in flight got %q", got)
	}
}

func TestCrashCutsWhatIsInFlight(t *testing.T) {
	arrived := make(chan struct{})
	b, c := backendtest.Start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})), newClient(t)
	failed := make(chan error, 1)
	go func() {
		_, err := ask(t, c, b)
		failed <- err
	}()
	<-arrived
	b.Crash()
	if err := <-failed; err == nil {
		t.Fatal("the request in flight was answered")
	}
	wantRefused(t, c, b)
}

func TestFrozenAcceptsAndIsSilentUntilRevived(t *testing.T) {
	b, c := backendtest.Start(t, backendtest.Answer(http.StatusOK, "hi")), newClient(t)
	wantAnswer(t, c, b, "hi")
	b.Freeze()
	made := int64(1) // connections, mostly two: net/http may not have kept the first
	for name, client := range map[string]*http.Client{"open connection": c, "new connection": newClient(t)} {
		ctx, cancel := context.WithCancel(t.Context())
		trace := &httptrace.ClientTrace{
			GotConn: func(got httptrace.GotConnInfo) {
				if !got.Reused {
					made++
				}
			},
			WroteRequest: func(httptrace.WroteRequestInfo) { time.AfterFunc(50*time.Millisecond, cancel) },
		}
		res, err := do(httptrace.WithClientTrace(ctx, trace), client, http.MethodGet, b.URL(), "")
		if err == nil {
			res.Body.Close()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want silence until the client leaves", name, err)
		}
		cancel()
	}
	eventually(t, "all connections are counted", func() bool { return b.Connections() == made })
	if b.Requests() != 1 {
		t.Errorf("%d requests while frozen, want the one from before", b.Requests())
	}
	b.Revive()
	wantAnswer(t, c, b, "hi")
}

// connectsAgain returns a client of one connection, which makes another only after a signal: one
// that the backend has not seen when it goes is reset.
func connectsAgain(t *testing.T, after <-chan struct{}) *http.Client {
	t.Helper()
	c, first := newClient(t), make(chan struct{}, 1)
	first <- struct{}{}
	c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		select {
		case <-first:
		case <-after:
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	return c
}

func TestKillUnderLoadLosesNothing(t *testing.T) {
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, "hi"))
	const clients = 4
	for range 5 {
		busy, ended := make(chan struct{}, clients), make(chan error, clients)
		killed := make(chan struct{})
		for range clients {
			c := connectsAgain(t, killed)
			go func() {
				_, err := ask(t, c, b)
				busy <- struct{}{}
				for err == nil {
					_, err = ask(t, c, b)
				}
				ended <- err
			}()
		}
		for range clients {
			<-busy
		}
		b.Kill()
		close(killed)
		for range clients {
			if err := <-ended; !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("a client ended with %v, want connection refused", err)
			}
		}
		b.Revive()
	}
}
