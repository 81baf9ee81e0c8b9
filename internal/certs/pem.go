package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// largestFile is more than any chain or bundle of authorities needs.
const largestFile = 4 << 20

// readPair loads a certificate and its key. No message holds anything of the key.
func readPair(certificate, key string) (*tls.Certificate, error) {
	chain, err := read(certificate)
	if err != nil {
		return nil, err
	}
	if !holds(chain, "CERTIFICATE") {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", certificate)
	}
	secret, err := read(key)
	if err != nil {
		return nil, err
	}
	if err := checkKey(secret); err != nil {
		return nil, fmt.Errorf("%s %w", key, err)
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, fmt.Errorf("%s with the key %s: %s", certificate, key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return &pair, nil
}

func checkKey(data []byte) error {
	found := false
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		encrypted := block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED")
		if encrypted {
			return errors.New("holds an encrypted key; write it in the clear, with rights for the gateway alone: openssl pkey -in KEY -out PLAIN")
		}
		found = found || strings.HasSuffix(block.Type, "PRIVATE KEY")
	}
	if !found {
		return errors.New("holds no private key in PEM form")
	}
	return nil
}

func holds(data []byte, kind string) bool {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == kind {
			return true
		}
	}
	return false
}

// readPool loads the authorities of a file.
func readPool(file string) (*x509.CertPool, error) {
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", file)
	}
	return pool, nil
}

func read(file string) ([]byte, error) {
	if strings.Contains(file, "-----BEGIN") {
		return nil, errors.New("PEM text stands where the name of a file belongs")
	}
	f, err := os.Open(strings.TrimPrefix(file, "file:"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data bytes.Buffer
	if n, err := io.Copy(&data, io.LimitReader(f, largestFile+1)); err != nil {
		return nil, err
	} else if n > largestFile {
		return nil, fmt.Errorf("%s is too large", file)
	}
	return data.Bytes(), nil
}
