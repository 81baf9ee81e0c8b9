package pemfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// PairFiles loads a certificate and its key. No message holds anything of the key.
func PairFiles(certificate, key string) (*tls.Certificate, error) {
	chain, err := readNamed(certificate)
	if err != nil {
		return nil, err
	}
	secret, err := readNamed(key)
	if err != nil {
		return nil, &KeyError{err}
	}
	pair, err := Pair(chain, secret)
	if blamed, ok := errors.AsType[*KeyError](err); ok {
		return nil, fmt.Errorf("%s with the key %s: %w", certificate, key, blamed)
	}
	return pair, Named(certificate, err)
}

// PoolFile loads the authorities of a file.
func PoolFile(file string) (*x509.CertPool, error) {
	content, err := readNamed(file)
	if err != nil {
		return nil, err
	}
	pool, err := Pool(content)
	return pool, Named(file, err)
}

func readNamed(file string) ([]byte, error) {
	content, err := Read(file)
	return content, Named(file, err)
}
