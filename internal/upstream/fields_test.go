package upstream_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/upstream"
)

// patient are settings that wait longer than anything should take.
func patient() http1.TransportSettings {
	return http1.TransportSettings{ConnectTimeout: time.Minute, ReadTimeout: time.Minute}
}

func ask(t *testing.T, header http.Header, answer string) (sent string, err error) {
	t.Helper()
	raw := backendtest.StartRaw(t, backendtest.Step{Await: "\r\n\r\n", Reply: answer})
	transport := upstream.New(patient())
	t.Cleanup(transport.CloseIdle)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+raw.Addr, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	res, err := transport.RoundTrip(req)
	if err == nil {
		res.Body.Close()
	}
	return raw.Received()[0], err
}

// TE is a field of one hop, which Connection has to tell.
func TestTEIsNamedInConnection(t *testing.T) {
	header := http.Header{"Te": {"trailers"}}
	sent, err := ask(t, header, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	if err != nil || !strings.Contains(sent, "\r\nConnection: TE\r\n") || len(header) != 1 {
		t.Errorf("sent %q, %v; the caller's header is now %v", sent, err, header)
	}
}

func TestFieldsThatCannotBePassedOn(t *testing.T) {
	for _, field := range []string{"X : secret", "X: secret\x01"} {
		_, err := ask(t, http.Header{}, "HTTP/1.1 200 OK\r\n"+field+"\r\nContent-Length: 0\r\n\r\n")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q ends with %v", field, err)
		}
	}
}
