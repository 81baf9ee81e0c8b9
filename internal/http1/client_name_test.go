package http1_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// Z03: a server is told the name it is asked by, in Host and in the handshake, but
// never an address in the latter.
func TestServerNameOfAHandshake(t *testing.T) {
	names := make(chan string, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.TLS.ServerName)) }))
	s.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) { //nolint:gosec // for tests
		names <- hello.ServerName
		return nil, nil //nolint:nilnil // means the config itself
	}}
	s.StartTLS()
	t.Cleanup(s.Close)
	for host, want := range map[string]string{"127.0.0.1": "", "localhost": "localhost"} {
		transport := newTransport(t, http1.TransportSettings{TLS: unverified()})
		a := fetch(t, transport, "GET", strings.Replace(s.URL, "127.0.0.1", host, 1))
		if got := <-names; a.err != nil || got != want || a.body != want {
			t.Errorf("Z03 %s: the server was told %q, %v; want %q", host, got, a.err, want)
		}
		transport.CloseIdle()
	}
}
