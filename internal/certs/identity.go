package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"
)

// Verified returns the client's certificate if the handshake has verified it, else nil.
func Verified(state *tls.ConnectionState) *x509.Certificate {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		return nil
	}
	return state.VerifiedChains[0][0]
}

// Subject is the subject in the order of RFC 2253, printable ASCII whatever the
// certificate says.
func Subject(c *x509.Certificate) string { return printable(c.Subject.String()) }

// EscapedPEM is the certificate as nginx gives it in $ssl_client_escaped_cert.
func EscapedPEM(c *x509.Certificate) string {
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	return strings.ReplaceAll(url.QueryEscape(string(text)), "+", "%20")
}

// XFCC is one element of Envoy's X-Forwarded-Client-Cert.
func XFCC(c *x509.Certificate) string {
	hash := sha256.Sum256(c.Raw)
	var b strings.Builder
	b.WriteString("Hash=" + hex.EncodeToString(hash[:]) + ";Subject=" + quoted(c.Subject.String()))
	for _, u := range c.URIs {
		b.WriteString(";URI=" + quoted(u.String()))
	}
	for _, name := range c.DNSNames {
		b.WriteString(";DNS=" + quoted(name))
	}
	return b.String()
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(text)) + `"`
}

// RFC9440 is the certificate as the byte sequence of Client-Cert.
func RFC9440(c *x509.Certificate) string {
	return ":" + base64.StdEncoding.EncodeToString(c.Raw) + ":"
}

// printable escapes what is not as RFC 2253 does, so that no name can break a field.
func printable(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			fmt.Fprintf(&b, `\%02X`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
