// Package certtest makes certificate authorities and certificates for tests. Keys are
// of P-256, which costs a fraction of a millisecond. Nothing of it may be linked into
// the product.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// CA signs certificates.
type CA struct {
	Cert *x509.Certificate
	PEM  []byte
	key  *ecdsa.PrivateKey
	tb   testing.TB
}

// NewCA makes an authority with the given common name.
func NewCA(tb testing.TB, name string) *CA {
	tb.Helper()
	template := &x509.Certificate{
		SerialNumber:          serial(tb),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	key := newKey(tb)
	cert := sign(tb, template, template, key, key)
	return &CA{Cert: cert, PEM: certPEM(cert.Raw), key: key, tb: tb}
}

// Pool trusts the authority and nobody else.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.Cert)
	return pool
}

// Write puts the authority's certificate into a file of a new directory and returns
// its path.
func (ca *CA) Write() string {
	ca.tb.Helper()
	file := filepath.Join(ca.tb.TempDir(), "ca.crt")
	write(ca.tb, file, ca.PEM)
	return file
}

// Leaf says what a certificate is for. The zero value of a field means what its
// comment says.
type Leaf struct {
	Name      string             // common name; empty: the first of Hosts
	Hosts     []string           // DNS names, addresses and URIs (with "://")
	Org       string             // organisation of the subject
	NotBefore time.Time          // zero: an hour ago
	NotAfter  time.Time          // zero: in an hour
	Usages    []x509.ExtKeyUsage // nil: servers and clients
}

// Issue makes a certificate for servers and clients with these names.
func (ca *CA) Issue(hosts ...string) *Pair { return ca.IssueLeaf(Leaf{Hosts: hosts}) }

// Expired is Issue for a certificate that has expired an hour ago.
func (ca *CA) Expired(hosts ...string) *Pair {
	now := time.Now()
	return ca.IssueLeaf(Leaf{Hosts: hosts, NotBefore: now.Add(-2 * time.Hour), NotAfter: now.Add(-time.Hour)})
}

// IssueLeaf makes a certificate.
func (ca *CA) IssueLeaf(l Leaf) *Pair {
	ca.tb.Helper()
	if l.Name == "" && len(l.Hosts) > 0 {
		l.Name = l.Hosts[0]
	}
	template := &x509.Certificate{
		SerialNumber: serial(ca.tb),
		Subject:      pkix.Name{CommonName: l.Name},
		NotBefore:    orTime(l.NotBefore, time.Now().Add(-time.Hour)),
		NotAfter:     orTime(l.NotAfter, time.Now().Add(time.Hour)),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  l.Usages,
	}
	if l.Org != "" {
		template.Subject.Organization = []string{l.Org}
	}
	if l.Usages == nil {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	for _, host := range l.Hosts {
		addName(ca.tb, template, host)
	}
	key := newKey(ca.tb)
	cert := sign(ca.tb, template, ca.Cert, key, ca.key)
	return newPair(ca.tb, cert, key)
}

func addName(tb testing.TB, template *x509.Certificate, host string) {
	tb.Helper()
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = append(template.IPAddresses, ip)
		return
	}
	if u, err := url.Parse(host); err == nil && u.Scheme != "" && u.Host != "" {
		template.URIs = append(template.URIs, u)
		return
	}
	template.DNSNames = append(template.DNSNames, host)
}

// Pair is a certificate with its private key.
type Pair struct {
	Cert            *x509.Certificate
	CertPEM, KeyPEM []byte
	TLS             tls.Certificate
	tb              testing.TB
}

func newPair(tb testing.TB, cert *x509.Certificate, key *ecdsa.PrivateKey) *Pair {
	tb.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	return &Pair{
		Cert:    cert,
		CertPEM: certPEM(cert.Raw),
		KeyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		TLS:     tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert},
		tb:      tb,
	}
}

// Write puts the pair into files of a new directory and returns their paths.
func (p *Pair) Write() (certFile, keyFile string) {
	p.tb.Helper()
	dir := p.tb.TempDir()
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	p.Replace(certFile, keyFile)
	return certFile, keyFile
}

// Replace puts the pair in the place of what is in two files, each at once.
func (p *Pair) Replace(certFile, keyFile string) {
	p.tb.Helper()
	write(p.tb, keyFile, p.KeyPEM)
	write(p.tb, certFile, p.CertPEM)
}

// write replaces a file as careful programs do: all at once.
func write(tb testing.TB, file string, content []byte) {
	tb.Helper()
	next := file + ".new"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(next, file); err != nil {
		tb.Fatal(err)
	}
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func sign(tb testing.TB, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return cert
}

func serial(tb testing.TB) *big.Int {
	tb.Helper()
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func orTime(t, otherwise time.Time) time.Time {
	if t.IsZero() {
		return otherwise
	}
	return t
}
