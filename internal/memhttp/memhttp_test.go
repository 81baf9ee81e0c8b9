package memhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/leaktest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func get(tb testing.TB, rt http.RoundTripper, url string) (string, error) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, url, nil)
	if err != nil {
		tb.Fatal(err)
	}
	res, err := rt.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func says(word string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, word) })
}

func TestAddressesAreApart(t *testing.T) {
	n := memhttp.NewNetwork()
	n.Serve(t, "users-1:8080", says("one"))
	n.Serve(t, "users-2:8080", says("two"))
	rt := n.Transport(t)
	for host, want := range map[string]string{"users-1:8080": "one", "users-2:8080": "two"} {
		if got, err := get(t, rt, "http://"+host+"/"); err != nil || got != want {
			t.Errorf("%s answered %q, %v; want %q", host, got, err, want)
		}
	}
}

func TestClosedServerRefusesAndCanBeReplaced(t *testing.T) {
	n := memhttp.NewNetwork()
	rt := n.Transport(t)
	s := n.Serve(t, "users:80", says("first"))
	if got, err := get(t, rt, "http://users"); got != "first" {
		t.Fatalf("got %q, %v before Close", got, err)
	}
	s.Close()
	if _, err := get(t, rt, "http://users"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("got %v after Close, want connection refused", err)
	}
	n.Serve(t, "users:80", says("second"))
	if got, err := get(t, rt, "http://users"); got != "second" {
		t.Fatalf("got %q, %v after a new Serve", got, err)
	}
}

func TestAddressInUse(t *testing.T) {
	n := memhttp.NewNetwork()
	l, err := n.Listen("a:1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := n.Listen("a:1"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("second Listen: %v, want address in use", err)
	}
}

func TestServerSeesAClientAddress(t *testing.T) {
	client, url := memhttp.NewClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.RemoteAddr)
	}))
	got, err := get(t, client.Transport, url)
	if err != nil {
		t.Fatal(err)
	}
	if host, _, err := net.SplitHostPort(got); err != nil || host != "192.0.2.1" {
		t.Fatalf("server saw %q", got)
	}
}

func TestLargeBodyBothWays(t *testing.T) {
	client, url := memhttp.NewClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	}))
	want := strings.Repeat("0123456789abcdef", 1<<16)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err != nil || string(got) != want {
		t.Fatalf("%d bytes came back, %v; want the %d sent", len(got), err, len(want))
	}
}

func TestDialWaitsForAcceptUnderFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := memhttp.NewNetwork()
		l, err := n.Listen("frozen:80")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		if _, err := n.Dial(ctx, "tcp", "frozen:80"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("dial of a host that never accepts: %v", err)
		}
		if waited := time.Since(start); waited != time.Hour {
			t.Fatalf("waited %v, want the hour of the deadline", waited)
		}
	})
}

func TestExchangeUnderFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, url := memhttp.NewClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(30 * time.Second):
				io.WriteString(w, "late")
			case <-r.Context().Done():
			}
		}))
		start := time.Now()
		got, err := get(t, client.Transport, url)
		if err != nil || got != "late" {
			t.Fatalf("got %q, %v", got, err)
		}
		if took := time.Since(start); took != 30*time.Second {
			t.Fatalf("took %v of fake time, want 30s", took)
		}
	})
}
