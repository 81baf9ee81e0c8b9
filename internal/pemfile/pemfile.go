// Package pemfile reads certificates and keys from PEM files, and takes nothing that is only
// half there: crypto/tls skips what it cannot read, so that a file cut short would be a
// shorter chain, or fewer authorities, without a word.
package pemfile

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// largest is more than any chain or bundle of authorities needs.
const largest = 4 << 20

var (
	errNoCertificate = errors.New("there is no certificate in PEM form in it")
	errNoKey         = errors.New("there is no private key in PEM form in it")
	errEncrypted     = errors.New("it holds an encrypted key; write it in the clear, with rights for the gateway alone: openssl pkey -in KEY -out PLAIN")
	errNoFile        = errors.New("not a regular file")
	errTooLarge      = errors.New("too large")
	errWide          = errors.New("it is UTF-16 and no PEM; save it as ASCII or UTF-8")
)

// Read returns the content of a regular file of at most 4 MiB, without the marks that editors of
// Windows put in front of UTF-8: a block behind one is not found. It never blocks on a pipe.
// Errors do not name the file, which Named does.
func Read(file string) ([]byte, error) {
	if isText(file) {
		return nil, errText
	}
	content, err := read(Path(file))
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return nil, errWide
	}
	return bytes.ReplaceAll(content, []byte("\ufeff"), nil), err
}

func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, syscall.EISDIR
	case !info.Mode().IsRegular():
		return nil, errNoFile
	}
	content, err := io.ReadAll(io.LimitReader(f, largest+1))
	if len(content) > largest {
		return nil, errTooLarge
	}
	return content, err
}

// Pool is the set of all certificates of a file, each of which has to be whole.
func Pool(content []byte) (*x509.CertPool, error) {
	found, err := certificates(content)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, c := range found {
		pool.AddCert(c)
	}
	return pool, nil
}

// KeyError blames the key of a pair, not the certificate.
type KeyError struct{ Err error }

func (e *KeyError) Error() string { return e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

// Pair joins a chain, of which every certificate has to be whole, and the key of its first.
// Nothing of the key is in errors.
func Pair(chain, key []byte) (*tls.Certificate, error) {
	if _, err := certificates(chain); err != nil {
		return nil, err
	}
	if err := checkKey(key); err != nil {
		return nil, &KeyError{err}
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, &KeyError{errors.New(strings.TrimPrefix(err.Error(), "tls: "))}
	}
	return &pair, nil
}

func certificates(content []byte) (found []*x509.Certificate, err error) {
	blocks, err := decode(content)
	if err != nil {
		return nil, err
	}
	for _, block := range blocks {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d in it cannot be read: %w", len(found)+1, err)
		}
		found = append(found, c)
	}
	if len(found) == 0 {
		return nil, errNoCertificate
	}
	return found, nil
}

// decode finds all blocks, and fails if one has begun that is not whole.
func decode(content []byte) (blocks []*pem.Block, err error) {
	begun := 0
	for line := range bytes.Lines(content) {
		if bytes.HasPrefix(line, []byte("-----BEGIN ")) {
			begun++
		}
	}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		blocks = append(blocks, block)
	}
	if len(blocks) < begun {
		return nil, fmt.Errorf("it is cut short or damaged: %d PEM blocks begin, %d are whole", begun, len(blocks))
	}
	return blocks, nil
}

func checkKey(content []byte) error {
	blocks, err := decode(content)
	if err != nil {
		return err
	}
	found := false
	for _, block := range blocks {
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return errEncrypted
		}
		found = found || strings.HasSuffix(block.Type, "PRIVATE KEY")
	}
	if !found {
		return errNoKey
	}
	return nil
}
