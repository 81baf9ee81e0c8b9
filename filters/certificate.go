package filters

import (
	"crypto/x509"

	"github.com/gozer-gateway/gozer/internal/certs"
)

// ClientCertificate returns the certificate with which the client has proved who it is, nil
// if it has not: without TLS, and without a certificate from one of the authorities of
// server.ssl.trust-certificate. It is shared and must not be changed.
func (c *Context) ClientCertificate() *x509.Certificate { return certs.Verified(c.Request.TLS) }
