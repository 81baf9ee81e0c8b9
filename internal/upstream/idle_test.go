package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/upstream"
)

// A connection that its server closed between two requests costs the second nothing,
// whatever its method, and the body arrives as a whole.
func TestConnectionClosedWhileIdle(t *testing.T) {
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		w.Write(body)
	}))
	transport := upstream.New(patient())
	t.Cleanup(transport.CloseIdle)
	for n := range 100 {
		body := strings.Repeat("x", n%3*5000)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.URL(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.GetBody = nil // as the load balancer does, so that net/http repeats nothing
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(got) != body {
			t.Errorf("request %d: %d bytes came back, %v; want %d", n, len(got), err, len(body))
		}
		b.Crash()
		b.Revive()
	}
}

// The far end of a tunnel learns that no more comes, and may still answer.
func TestTunnelEndsInOneDirection(t *testing.T) {
	raw := backendtest.StartRaw(t, backendtest.Step{Reply: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"})
	transport := upstream.New(patient())
	t.Cleanup(transport.CloseIdle)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+raw.Addr, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"x"}}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	half, ok := res.Body.(interface{ CloseWrite() error })
	if !ok {
		t.Fatalf("%T cannot end one direction", res.Body)
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("read %q, %v from a server that ends when its client does", rest, err)
	}
}
