package certs_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/certs"
	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func settings(pairs ...certs.Pair) certs.Settings {
	return certs.Settings{Pairs: pairs, MinVersion: tls.VersionTLS12, TicketRotation: time.Hour, Warning: time.Minute}
}

func pairOf(p *certtest.Pair) certs.Pair {
	cert, key := p.Write()
	return certs.Pair{Name: "server.ssl", Default: true, Certificate: cert, Key: key}
}

func adopt(t *testing.T, s *certs.Store, next certs.Settings) {
	t.Helper()
	v, err := s.Prepare(next)
	if err != nil {
		t.Fatal(err)
	}
	s.Adopt(v)
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// handshake makes a connection over a pipe and tells whether it was resumed.
func handshake(t *testing.T, s *certs.Store, client *tls.Config) (resumed bool, err error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	served := make(chan struct{})
	go func() {
		defer close(served)
		defer far.Close()
		conn := tls.Server(far, s.Config())
		if conn.HandshakeContext(t.Context()) == nil {
			_, _ = conn.Write([]byte("x")) // after the tickets
		}
	}()
	defer func() { <-served }()
	defer near.Close()
	conn := tls.Client(near, client)
	if err := conn.HandshakeContext(t.Context()); err != nil {
		return false, err
	}
	_, err = io.ReadFull(conn, make([]byte, 1))
	return conn.ConnectionState().DidResume, err
}

// Tickets are good for two turns of the key, and for none when clients are asked for more.
func TestTickets(t *testing.T) {
	ca := certtest.NewCA(t, "CA")
	pair, trust := pairOf(ca.IssueLeaf(certtest.Leaf{Hosts: []string{"g.test"}, NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(1e6 * time.Hour)})), ca.Write()
	for name, row := range map[string]struct {
		meanwhile func(*certs.Store)
		resumed   bool
	}{
		"at once":                 {func(*certs.Store) {}, true},
		"one turn later":          {func(*certs.Store) { <-time.After(time.Hour + time.Minute) }, true},
		"three turns later":       {func(*certs.Store) { time.Sleep(3 * time.Hour) }, false}, //nolint:forbidigo // fake time
		"the same settings again": {func(s *certs.Store) { adopt(t, s, settings(pair)) }, true},
		"clients' certificates wanted": {func(s *certs.Store) {
			next := settings(pair)
			next.ClientAuth, next.Authorities = tls.VerifyClientCertIfGiven, trust
			adopt(t, s, next)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := certs.New("proxy", discard())
				adopt(t, s, settings(pair))
				done := make(chan struct{})
				go func() { defer close(done); s.Run(t.Context(), 0) }()
				client := &tls.Config{ServerName: "g.test", InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1)} //nolint:gosec // a test's
				if _, err := handshake(t, s, client); err != nil {
					t.Fatal(err)
				}
				row.meanwhile(s)
				resumed, err := handshake(t, s, client)
				if err != nil || resumed != row.resumed {
					t.Errorf("resumed is %v, %v", resumed, err)
				}
			})
		})
	}
}

// output is a log that can be read while it is written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// An end is warned of once a day.
func TestWarnings(t *testing.T) {
	ca := certtest.NewCA(t, "CA")
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when fake time begins
	pair := pairOf(ca.IssueLeaf(certtest.Leaf{Hosts: []string{"g.test"}, NotBefore: time.Unix(0, 0), NotAfter: start.Add(49 * time.Hour)}))
	synctest.Test(t, func(t *testing.T) {
		var log output
		s := certs.New("proxy", slog.New(slog.NewTextHandler(&log, nil)))
		next := settings(pair)
		next.Warning = 48 * time.Hour
		adopt(t, s, next)
		go s.Run(t.Context(), time.Minute)
		<-time.After(48 * time.Hour)
		synctest.Wait()
		if n := strings.Count(log.String(), "ends soon"); n != 2 {
			t.Errorf("%d warnings:\n%s", n, &log)
		}
		<-time.After(24 * time.Hour)
		synctest.Wait()
		if n := strings.Count(log.String(), "has expired"); n != 1 {
			t.Errorf("%d errors:\n%s", n, &log)
		}
	})
}

func TestReason(t *testing.T) {
	for message, want := range map[string]string{
		"tls: client didn't provide a certificate":                                                 "client-certificate-missing",
		"tls: failed to verify certificate: x509: certificate has expired or is not yet valid":     "client-certificate-expired",
		"tls: failed to verify certificate: x509: certificate signed by unknown authority":         "client-certificate-unknown-authority",
		"tls: failed to verify certificate: x509: certificate specifies an incompatible key usage": "client-certificate-bad",
		"tls: no certificates configured":                                                          "unknown-name",
		"tls: first record does not look like a TLS handshake":                                     "not-tls",
		"tls: client offered only unsupported versions: [301]":                                     "no-agreement",
		"remote error: tls: unknown certificate":                                                   "refused-by-client",
		"read tcp 127.0.0.1:1->127.0.0.1:2: i/o timeout":                                           "timeout",
		"EOF": "gone",
		"?":   "other",
	} {
		if got := certs.Reason(message); got != want || !slices.Contains(certs.Reasons(), want) {
			t.Errorf("%q: %s, want %s", message, got, want)
		}
	}
	s := certs.New("proxy", discard())
	s.Failed("EOF")
	s.Failed("read: connection reset by peer")
	if n := s.Counts().Failures["gone"]; n != 2 {
		t.Errorf("%d are gone", n)
	}
}

// docs/tls.md has a row for each reason.
func TestReasonsAreInTheManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/tls.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range certs.Reasons() {
		if !strings.Contains(string(page), "\n| `"+reason+"` |") {
			t.Errorf("docs/tls.md lacks %s", reason)
		}
	}
}

func TestNames(t *testing.T) {
	names := certs.NewNames("G.test", "*.shop.test", "::1", "127.0.0.1")
	for host, want := range map[string]bool{
		"g.test": true, "G.TEST.": true, "a.shop.test": true, "[::1]": true, "[0:0::1]": true, "127.0.0.1": true,
		"": false, ".": false, "shop.test": false, "a.b.shop.test": false, "*.shop.test": false, "x.g.test": false, "evil-g.test": false,
	} {
		if names.Has(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}

func TestPrepareNamesWhatIsWrong(t *testing.T) {
	s := certs.New("proxy", discard())
	good := pairOf(certtest.NewCA(t, "CA").Issue("g.test"))
	bad := good
	bad.Name, bad.Key = "gateway.ssl.certificates.shop", good.Certificate
	_, err := s.Prepare(settings(good, bad))
	failure, ok := errors.AsType[*certs.Error](err)
	if !ok || failure.Name != bad.Name || !strings.Contains(err.Error(), "no private key") {
		t.Errorf("%v", err)
	}
	if s.Certificates() != nil {
		t.Error("a refused view is in force")
	}
	inline := good
	inline.Key = "-----BEGIN PRIVATE KEY-----\nsecret"
	if _, err := s.Prepare(settings(inline)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
