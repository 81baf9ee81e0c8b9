package backendtest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

func TestEcho(t *testing.T) {
	b, c := backendtest.Start(t, backendtest.Echo("users-1")), newClient(t)
	res, err := do(t.Context(), c, http.MethodPut, b.URL()+"/a%2Fb;v=1/%7e?x=%20&y", "hello")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got := backendtest.ReadEcho(t, res.Body)
	if got.Backend != "users-1" || res.Header.Get("X-Backend") != "users-1" {
		t.Errorf("names %q and %q", got.Backend, res.Header.Get("X-Backend"))
	}
	if got.Method != http.MethodPut || got.Target != "/a%2Fb;v=1/%7e?x=%20&y" || got.Host != b.Addr {
		t.Errorf("request line %s %s to %s", got.Method, got.Target, got.Host)
	}
	sum := sha256.Sum256([]byte("hello"))
	if got.BodyLength != 5 || got.ContentLength != 5 || got.BodySHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("body of %d (%d announced), hash %s", got.BodyLength, got.ContentLength, got.BodySHA256)
	}
	if got.Header.Get("User-Agent") == "" {
		t.Errorf("headers %v", got.Header)
	}
}

func TestSequenceKeepsTheLast(t *testing.T) {
	b := backendtest.Start(t, backendtest.Sequence(
		backendtest.Answer(http.StatusServiceUnavailable, ""), backendtest.Answer(http.StatusOK, "")))
	c := newClient(t)
	for i, want := range []int{http.StatusServiceUnavailable, http.StatusOK, http.StatusOK} {
		res, err := do(t.Context(), c, http.MethodGet, b.URL(), "")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("request %d: status %d, want %d", i+1, res.StatusCode, want)
		}
	}
}

func TestSlow(t *testing.T) {
	const delay = 30 * time.Millisecond
	b, c := backendtest.Start(t, backendtest.Slow(delay, backendtest.Answer(http.StatusOK, "late"))), newClient(t)
	start := time.Now()
	wantAnswer(t, c, b, "late")
	if took := time.Since(start); took < delay {
		t.Fatalf("answered after %v, want at least %v", took, delay)
	}
}

func TestHangEndsWithItsClient(t *testing.T) {
	b, c := backendtest.Start(t, backendtest.Hang()), newClient(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		res, err := do(ctx, c, http.MethodPost, b.URL(), "body")
		if err == nil {
			res.Body.Close()
		}
		ended <- err
	}()
	eventually(t, "the request arrives", func() bool { return b.Requests() == 1 })
	select {
	case err := <-ended:
		t.Fatalf("it has ended with %v, want one that never does", err)
	case <-time.After(30 * time.Millisecond):
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("it has ended with %v, want the end of its client", err)
	}
}

func TestBrokenAnswers(t *testing.T) {
	for name, row := range map[string]struct {
		behaviour http.Handler
		want      error
		body      string
	}{
		"hang up": {backendtest.HangUp(), io.EOF, ""},
		"reset":   {backendtest.Reset(), syscall.ECONNRESET, ""},
		"cut":     {backendtest.Cut("half", 4), io.ErrUnexpectedEOF, "half"},
	} {
		t.Run(name, func(t *testing.T) {
			b, c := backendtest.Start(t, row.behaviour), newClient(t)
			if body, err := ask(t, c, b); !errors.Is(err, row.want) || body != row.body {
				t.Fatalf("got %q, %v; want %q, %v", body, err, row.body, row.want)
			}
		})
	}
}
