package gozer

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/gozer-gateway/gozer/internal/pemfile"
)

// readPool reads the authorities of a file for the registry's connections, which do not
// follow their files.
func readPool(file string) (*x509.CertPool, error) {
	content, err := pemfile.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	pool, err := pemfile.Pool(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return pool, nil
}

// readPair is the same for a certificate and its key.
func readPair(certificate, key string) ([]tls.Certificate, error) {
	chain, err := pemfile.Read(certificate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", certificate, err)
	}
	secret, err := pemfile.Read(key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	pair, err := pemfile.Pair(chain, secret)
	if err != nil {
		return nil, fmt.Errorf("%s with the key %s: %w", certificate, key, err)
	}
	return []tls.Certificate{*pair}, nil
}
