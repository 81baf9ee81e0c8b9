package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

// authorities of the clients' and the gateway's certificates in these tests.
type authorities struct {
	server, client *certtest.CA
	trust          string // the file of client
}

func newAuthorities(t *testing.T) authorities {
	t.Helper()
	a := authorities{server: certtest.NewCA(t, "Server CA"), client: certtest.NewCA(t, "Client CA")}
	a.trust = a.client.Write()
	return a
}

// secureYAML is a gateway over TLS with a certificate for hosts in front of b; further
// are lines of YAML.
func secureYAML(p *certtest.Pair, b *backendtest.Backend, further ...string) string {
	cert, key := p.Write()
	return secureFiles(cert, key, b, further...)
}

func secureFiles(cert, key string, b *backendtest.Backend, further ...string) string {
	base := []string{
		fmt.Sprintf("zuul.routes.api: {path: /api/**, url: \"%s\"}", b.URL()),
		"server.ssl.certificate: " + cert,
		"server.ssl.certificate-private-key: " + key,
	}
	return strings.Join(append(base, further...), "\n") + "\n"
}

// trusting is a client's configuration that believes the server's authority.
func (a authorities) trusting(name string, client ...*certtest.Pair) *tls.Config {
	c := &tls.Config{RootCAs: a.server.Pool(), ServerName: name, MinVersion: tls.VersionTLS10}
	for _, p := range client {
		shown := p.TLS // whatever authorities the server asks for
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &shown, nil }
	}
	return c
}

// dialTLS opens a connection to the proxy that ends with the test.
func (g *gateway) dialTLS(c *tls.Config) (*tls.Conn, error) {
	g.tb.Helper()
	ctx, cancel := context.WithTimeout(g.tb.Context(), patience)
	defer cancel()
	conn, err := (&tls.Dialer{Config: c}).DialContext(ctx, "tcp", g.Proxy)
	if err != nil {
		return nil, err
	}
	g.tb.Cleanup(func() { _ = conn.Close() })
	return conn.(*tls.Conn), nil
}

// getTLS sends a GET of /api/x on a new connection.
func (g *gateway) getTLS(c *tls.Config, host string, fields ...string) (*answer, error) {
	g.tb.Helper()
	conn, err := g.dialTLS(c)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return askOn(conn, bufio.NewReader(conn), host, fields...)
}

// askOn sends a GET on a connection.
func askOn(conn *tls.Conn, r *bufio.Reader, host string, fields ...string) (*answer, error) {
	if _, err := conn.Write([]byte(lines(append([]string{"GET /api/x HTTP/1.1", "Host: " + host}, fields...)...))); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, err
	}
	return read(res)
}

// shown is the certificate that the gateway shows to a client, by its serial number.
func (g *gateway) shown(c *tls.Config) string {
	g.tb.Helper()
	conn, err := g.dialTLS(c)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Text(16)
}

func serialOf(p *certtest.Pair) string { return p.Cert.SerialNumber.Text(16) }

// fieldsBack answers with the fields of the request's head.
func fieldsBack() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Header.Write(w)
		_ = r.Trailer.Write(w)
	})
}

// recording is a connection that keeps what is written to it and then fails.
type recording struct {
	net.Conn
	sent bytes.Buffer
}

func (r *recording) Write(p []byte) (int, error)    { return r.sent.Write(p) }
func (*recording) Read([]byte) (int, error)         { return 0, io.EOF }
func (*recording) Close() error                     { return nil }
func (*recording) SetDeadline(time.Time) error      { return nil }
func (*recording) SetWriteDeadline(time.Time) error { return nil }
