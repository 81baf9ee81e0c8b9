package h2client_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/h2client"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// serveHTTP2 starts net/http's server without TLS.
func serveHTTP2(t *testing.T, handler http.Handler) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l) //nolint:errcheck // ends with the test
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

func sorted(names []string) string {
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestTLS(t *testing.T) {
	start := func(protocols ...string) string {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Proto", r.Proto) }))
		s.EnableHTTP2 = slices.Contains(protocols, "h2")
		s.TLS = &tls.Config{NextProtos: protocols} //nolint:gosec // of a test
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	plain := "http://" + serveHTTP2(t, http.NotFoundHandler())
	for name, tt := range map[string]struct {
		url             string
		cleartext, good bool
	}{
		"h2 with a server that offers it":  {start("h2", "http/1.1"), false, true},
		"h2 with a server that does not":   {start("http/1.1"), false, false},
		"h2c with a server that wants TLS": {start("h2"), true, false},
		"h2 with a server without TLS":     {plain, false, false},
		"h2c with a server without TLS":    {plain, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := h2client.Settings{TransportSettings: timeouts(patience, patience, patience), Limits: h2client.Limits{Cleartext: tt.cleartext}}
			s.TLS = tlsout.New(tlsout.Options{Settings: tlsout.Settings{SkipVerify: true}})
			transport := h2client.New(s)
			t.Cleanup(transport.CloseIdle)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tt.url, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			res, err := transport.RoundTrip(r)
			if err == nil {
				res.Body.Close()
			}
			if (err == nil) != tt.good || nothingSent(err) == tt.good {
				t.Errorf("%v; nothing sent: %v", err, nothingSent(err))
			}
		})
	}
}
