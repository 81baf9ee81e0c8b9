package gozer

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strconv"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/certs"
	"github.com/gozer-gateway/gozer/internal/headers"
)

// edge is what TLS means for single requests: who the client is, whether it asks the right
// connection, and that it comes back over TLS. It is nil when there is nothing to do.
type edge struct {
	clientHeader string // canonical; empty for none
	clientValue  func(*x509.Certificate) string
	strictHost   bool
	hsts         string // empty for none
}

func newEdge(cfg *config.Config) *edge {
	ssl := cfg.Gateway.SSL
	e := &edge{
		clientHeader: http.CanonicalHeaderKey(ssl.ClientHeader),
		clientValue:  clientValue(ssl.ClientFormat),
		hsts:         hstsOf(ssl.HSTS),
	}
	if cfg.TLS() {
		e.strictHost = cfg.Server.SSL.ClientAuth != "none"
		if ssl.StrictHost != nil {
			e.strictHost = *ssl.StrictHost
		}
	}
	if e.clientHeader == "" && e.hsts == "" && !e.strictHost {
		return nil
	}
	return e
}

func clientValue(format string) func(*x509.Certificate) string {
	switch format {
	case config.SubjectFormat:
		return certs.Subject
	case config.XFCCFormat:
		return certs.XFCC
	case config.RFC9440Format:
		return certs.RFC9440
	}
	return certs.EscapedPEM
}

func hstsOf(h config.HSTS) string {
	if h.MaxAge <= 0 {
		return ""
	}
	value := "max-age=" + strconv.FormatInt(int64(h.MaxAge.Seconds()), 10)
	if h.IncludeSubDomains {
		value += "; includeSubDomains"
	}
	if h.Preload {
		value += "; preload"
	}
	return value
}

// strip deletes what a client says about its certificate, before any filter sees it. Some
// servers take X_A for X-A, so that goes too.
func (e *edge) strip(r *http.Request) {
	if e.clientHeader == "" {
		return
	}
	for name := range r.Header {
		if headers.Alike(name, e.clientHeader) {
			delete(r.Header, name)
		}
	}
}

// enter tells the upstream of the client's certificate and the client to use TLS again. It
// returns an error if the request belongs to another connection.
func (e *edge) enter(c *filters.Context) error {
	if e.clientHeader != "" {
		c.Reserve(e.clientHeader)
		c.IgnoreHeaders(e.clientHeader) // of the upstream
		if cert := c.ClientCertificate(); cert != nil {
			c.Out.SetField(e.clientHeader, e.clientValue(cert))
		}
	}
	if c.Request.TLS == nil {
		return nil
	}
	if e.hsts != "" {
		c.IgnoreHeaders(hstsField) // of the upstream
		c.Writer().Header()[hstsField] = []string{e.hsts}
	}
	if e.strictHost && misdirected(c.Request.TLS, c.Request.Host) {
		return filters.Refuse(http.StatusMisdirectedRequest, "Host is not the server name of the connection")
	}
	return nil
}

const hstsField = "Strict-Transport-Security"

// misdirected tells whether a request is for another host than the connection was opened
// for (RFC 9110 7.4). A client that has asked for no name got what all get.
func misdirected(state *tls.ConnectionState, host string) bool {
	if state.ServerName == "" {
		return false
	}
	authority, ok := headers.ParseAuthority(host)
	return !ok || certs.Host(authority.Name) != certs.Host(state.ServerName)
}
