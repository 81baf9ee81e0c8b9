package freshtls_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/freshtls"
	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// shows is a server that answers with the name in the client's certificate.
func shows(t *testing.T, ca *certtest.CA, entered, leave chan struct{}) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(entered)
			<-leave
		}
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool()}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, rt http.RoundTripper, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestRenewed(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	entered, leave := make(chan struct{}), make(chan struct{})
	server := shows(t, ca, entered, leave)
	config := func(name string) *tls.Config {
		pair := ca.IssueLeaf(certtest.Leaf{Name: name}).TLS
		trusted := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs //nolint:forcetypeassert // it is one
		return &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{pair}}
	}
	var current atomic.Pointer[tls.Config]
	current.Store(config("old"))
	transport := freshtls.New(&http.Transport{}, current.Load)
	defer transport.CloseIdleConnections()

	if got := get(t, transport, server.URL); got != "old" {
		t.Errorf("shown %q", got)
	}
	slow := make(chan string)
	go func() { slow <- get(t, transport, server.URL+"/slow") }()
	<-entered
	current.Store(config("new"))
	if got := get(t, transport, server.URL); got != "new" {
		t.Errorf("shown %q after the change", got)
	}
	close(leave)
	if got := <-slow; got != "old" {
		t.Errorf("the request on its way ended with %q", got)
	}
}

func TestWithoutTLS(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "plain") }))
	defer server.Close()
	transport := freshtls.New(&http.Transport{}, nil)
	defer transport.CloseIdleConnections()
	if got := get(t, transport, server.URL); got != "plain" {
		t.Errorf("got %q", got)
	}
}
