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
		return nil, err
	}
	pair, err := Pair(chain, secret)
	if blamed, ok := errors.AsType[*KeyError](err); ok {
		return nil, fmt.Errorf("%s with the key %s: %w", certificate, key, blamed)
	}
	return pair, named(certificate, err)
}

// PoolFile loads the authorities of a file.
func PoolFile(file string) (*x509.CertPool, error) {
	content, err := readNamed(file)
	if err != nil {
		return nil, err
	}
	pool, err := Pool(content)
	return pool, named(file, err)
}

func readNamed(file string) ([]byte, error) {
	content, err := Read(file)
	return content, named(file, err)
}

// named says which file it is about, unless its name is not to be shown.
func named(file string, err error) error {
	if err == nil || errors.Is(err, ErrText) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}
