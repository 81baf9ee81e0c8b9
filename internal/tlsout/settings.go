// Package tlsout makes TLS sessions with upstreams: what is trusted, what is shown, which
// name is asked for, and, if a session does not come about, why. It knows no HTTP; both
// engines and whatever else dials upstreams use it.
package tlsout

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/gozer-gateway/gozer/internal/pemfile"
)

// Settings say how the upstreams of one service or route are to be spoken to. The zero
// value trusts the system's authorities, shows no certificate and asks for the host's name.
type Settings struct {
	Files
	// ServerName replaces the host as the name that is asked for and verified.
	ServerName string
	// SkipVerify accepts any certificate.
	SkipVerify bool
	// MinVersion is a version of crypto/tls; 0 means TLS 1.2.
	MinVersion uint16
}

// Files hold PEM; "" stands for none.
type Files struct {
	TrustCertificate string // authorities; "" means the system's
	Certificate      string // what is shown to servers that ask, its chain included
	PrivateKey       string // its key
}

// Paths lists those that there are.
func (f Files) Paths() (all []string) {
	for _, file := range []string{f.TrustCertificate, f.Certificate, f.PrivateKey} {
		if file != "" {
			all = append(all, file)
		}
	}
	return all
}

// Material is the content of files at one moment. It never changes.
type Material struct {
	roots  *x509.CertPool   // nil: the system's
	pair   *tls.Certificate // nil: none
	digest [sha256.Size]byte
}

// Equal reports that both were read from the same bytes.
func (m *Material) Equal(o *Material) bool { return m != nil && o != nil && m.digest == o.digest }

// Certificate is what is shown to servers that ask; nil for none, as of a nil Material.
func (m *Material) Certificate() *tls.Certificate {
	if m == nil {
		return nil
	}
	return m.pair
}

// Config is for clients of the standard library; a nil Material leaves everything to the system.
func (m *Material) Config() *tls.Config {
	if m == nil {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: m.roots}
	if m.pair != nil {
		c.Certificates = []tls.Certificate{*m.pair}
	}
	return c
}

// Part names one of the files.
type Part uint8

// The parts.
const (
	TrustCertificate Part = iota
	Certificate
	PrivateKey
)

// String is the last part of the keys that name such a file.
func (p Part) String() string {
	return [...]string{"trust-certificate", "certificate", "certificate-private-key"}[p]
}

// FileError is a file that is of no use. Its text holds nothing of the file's content, not even
// if that stands in place of the name.
type FileError struct {
	Part Part
	File string
	Err  error
}

func (e *FileError) Error() string { return pemfile.Named(e.File, e.Err).Error() }

// Unwrap gives the reason without the file's name.
func (e *FileError) Unwrap() error { return e.Err }

var (
	errNoKey  = errors.New("no file is named for its private key")
	errNoPair = errors.New("no file is named for its certificate")
)

// Load reads the files. Everything that is wrong is in the error, each as a *FileError.
func (f Files) Load() (*Material, error) {
	l := loader{m: &Material{}}
	l.trust(f.TrustCertificate)
	l.show(f.Certificate, f.PrivateKey)
	if err := errors.Join(l.problems...); err != nil {
		return nil, err
	}
	l.m.digest = sha256.Sum256(bytes.Join(l.contents, []byte{0}))
	return l.m, nil
}

type loader struct {
	m        *Material
	contents [][]byte
	problems []error
}

func (l *loader) fail(part Part, file string, err error) {
	l.problems = append(l.problems, &FileError{part, file, err})
}

// read returns false after a failure, which it notes.
func (l *loader) read(part Part, file string) ([]byte, bool) {
	content, err := pemfile.Read(file)
	if err != nil {
		l.fail(part, file, err)
		return nil, false
	}
	l.contents = append(l.contents, content)
	return content, true
}

func (l *loader) trust(file string) {
	if file == "" {
		return
	}
	content, ok := l.read(TrustCertificate, file)
	if !ok {
		return
	}
	var err error
	if l.m.roots, err = pemfile.Pool(content); err != nil {
		l.fail(TrustCertificate, file, err)
	}
}

func (l *loader) show(certificate, key string) {
	switch {
	case certificate == "" && key == "":
		return
	case key == "":
		l.fail(Certificate, certificate, errNoKey)
		return
	case certificate == "":
		l.fail(PrivateKey, key, errNoPair)
		return
	}
	chain, readable := l.read(Certificate, certificate)
	secret, ok := l.read(PrivateKey, key)
	if !readable || !ok {
		return
	}
	var err error
	l.m.pair, err = pemfile.Pair(chain, secret)
	if blamed, ok := errors.AsType[*pemfile.KeyError](err); ok {
		l.fail(PrivateKey, key, blamed)
	} else if err != nil {
		l.fail(Certificate, certificate, err)
	}
}
