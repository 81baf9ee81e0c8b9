package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/gozer-gateway/gozer/internal/pemfile"
)

// readPair loads a certificate and its key. No message holds anything of the key.
func readPair(certificate, key string) (*tls.Certificate, error) {
	chain, err := read(certificate)
	if err != nil {
		return nil, err
	}
	secret, err := read(key)
	if err != nil {
		return nil, err
	}
	pair, err := pemfile.Pair(chain, secret)
	if blamed, ok := errors.AsType[*pemfile.KeyError](err); ok {
		return nil, fmt.Errorf("%s with the key %s: %w", certificate, key, blamed)
	}
	return pair, named(certificate, err)
}

// readPool loads the authorities of a file.
func readPool(file string) (*x509.CertPool, error) {
	content, err := read(file)
	if err != nil {
		return nil, err
	}
	pool, err := pemfile.Pool(content)
	return pool, named(file, err)
}

func read(file string) ([]byte, error) {
	content, err := pemfile.Read(file)
	return content, named(file, err)
}

// named says which file it is about, unless its name is not to be shown.
func named(file string, err error) error {
	if err == nil || errors.Is(err, pemfile.ErrText) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}
