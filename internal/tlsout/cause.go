package tlsout

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// Cause is why a session did not come about.
type Cause uint8

// The causes. Those up to InvalidCertificate are found by verifying the server.
const (
	Other Cause = iota
	Expired
	NotYetValid
	WrongName
	UnknownAuthority
	InvalidCertificate
	ClientCertificateRequired // by the server; none is configured
	ClientCertificateRefused  // by the server
	UnknownName               // to the server
	Version                   // no common one
	NotTLS
	TimedOut
	Closed
	causes
)

// Causes lists all of them, for labels.
func Causes() []Cause {
	all := make([]Cause, causes)
	for i := range all {
		all[i] = Cause(i)
	}
	return all
}

// String is the name that counters and logs use.
func (c Cause) String() string {
	return [...]string{
		"other", "certificate-expired", "certificate-not-yet-valid", "wrong-name", "unknown-authority", "certificate-invalid",
		"client-certificate-required", "client-certificate-refused", "unknown-name", "protocol-version", "not-tls", "timeout", "closed",
	}[c]
}

func (c Cause) sentence() string {
	return [...]string{
		"no session",
		"the server's certificate has expired",
		"the server's certificate is not valid yet",
		"the server's certificate is for another name",
		"the server's certificate is from an unknown authority",
		"the server's certificate is not valid for this",
		"the server wants a client certificate, and none is configured",
		"the server has refused the client certificate",
		"the server does not know the name it was asked for",
		"there is no common protocol version",
		"the server does not speak TLS",
		"the handshake took too long",
		"the server ended the connection",
	}[c]
}

// Error is a session that did not come about: nothing of a request was sent.
type Error struct {
	Address    string // host:port
	ServerName string // that was asked for, or the address that was verified
	Cause      Cause
	Err        error
}

var _ net.Error = (*Error)(nil)

func (e *Error) Error() string {
	return fmt.Sprintf("TLS with %s as %q: %s (%s): %v", e.Address, e.ServerName, e.Cause.sentence(), e.Cause, e.Err)
}

// Unwrap gives the error of crypto/tls or of the network.
func (e *Error) Unwrap() error { return e.Err }

// NothingSent tells the load balancer that another server may be tried.
func (*Error) NothingSent() bool { return true }

// Timeout reports that the handshake took too long.
func (e *Error) Timeout() bool { return e.Cause == TimedOut }

// Temporary is Timeout.
func (e *Error) Temporary() bool { return e.Timeout() }

// causeOf judges an error. asked tells that the server has asked for a certificate, shown
// that there is one.
func causeOf(err error, asked, shown bool) Cause {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return invalidity(invalid)
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return WrongName
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return UnknownAuthority
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return InvalidCertificate
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return NotTLS
	}
	if alert := alertOf(err); alert != "" {
		return causeOfAlert(alert, asked, shown)
	}
	return causeOfBreak(err, asked, shown)
}

func invalidity(e x509.CertificateInvalidError) Cause {
	switch {
	case e.Reason != x509.Expired:
		return InvalidCertificate
	case e.Cert != nil && time.Now().Before(e.Cert.NotBefore):
		return NotYetValid
	}
	return Expired
}

// alertOf is the text of the alert that the server sent. Package tls has no exported type
// for it.
func alertOf(err error) string {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" {
		return ""
	}
	return strings.TrimPrefix(op.Err.Error(), "tls: ")
}

func causeOfAlert(alert string, asked, shown bool) Cause {
	switch alert {
	case "protocol version not supported":
		return Version
	case "unrecognized name":
		return UnknownName
	case "certificate required":
		return refusal(shown)
	case "bad certificate", "unsupported certificate", "revoked certificate", "expired certificate", "unknown certificate",
		"unknown certificate authority", "access denied", "handshake failure":
		if asked {
			return refusal(shown)
		}
	}
	return Other
}

func refusal(shown bool) Cause {
	if shown {
		return ClientCertificateRefused
	}
	return ClientCertificateRequired
}

// causeOfBreak judges errors of the connection. A server that hangs up after it has asked
// for a certificate did not like the answer.
func causeOfBreak(err error, asked, shown bool) Cause {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		if asked {
			return refusal(shown)
		}
		return Closed
	case strings.Contains(err.Error(), "unsupported protocol version"), strings.Contains(err.Error(), "no supported versions"):
		return Version
	}
	return Other
}
