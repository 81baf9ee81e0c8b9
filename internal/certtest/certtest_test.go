package certtest_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/certtest"
)

func TestIssue(t *testing.T) {
	ca := certtest.NewCA(t, "Test CA")
	pair := ca.Issue("a.test", "127.0.0.1", "spiffe://test/a")
	for _, name := range []string{"a.test", "127.0.0.1"} {
		if _, err := pair.Cert.Verify(x509.VerifyOptions{Roots: ca.Pool(), DNSName: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(pair.Cert.URIs) != 1 || pair.Cert.Subject.CommonName != "a.test" {
		t.Errorf("names are %v and %s", pair.Cert.URIs, pair.Cert.Subject)
	}
	other := certtest.NewCA(t, "Other CA")
	if _, err := pair.Cert.Verify(x509.VerifyOptions{Roots: other.Pool()}); err == nil {
		t.Error("another authority vouches for it")
	}
}

func TestExpired(t *testing.T) {
	if expired := certtest.NewCA(t, "CA").Expired("a.test"); !expired.Cert.NotAfter.Before(time.Now()) {
		t.Errorf("it is good until %v", expired.Cert.NotAfter)
	}
}

func TestWrite(t *testing.T) {
	pair := certtest.NewCA(t, "CA").Issue("a.test")
	loaded, err := tls.LoadX509KeyPair(pair.Write())
	if err != nil {
		t.Fatal(err)
	}
	if !loaded.Leaf.Equal(pair.Cert) {
		t.Error("another certificate was read")
	}
}
