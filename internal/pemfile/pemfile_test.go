package pemfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/pemfile"
)

func TestPool(t *testing.T) {
	one, err := os.ReadFile(certtest.NewCA(t, "one").Write())
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(certtest.NewCA(t, "two").Write())
	if err != nil {
		t.Fatal(err)
	}
	both := string(one) + string(two)
	for name, row := range map[string]struct{ content, want string }{
		"both":                 {both, ""},
		"with text around":     {"# ours\n" + string(one) + "# -----BEGIN is no beginning\n" + string(two), ""},
		"lines of Windows":     {strings.ReplaceAll(both, "\n", "\r\n"), ""},
		"cut in the second":    {both[:len(both)-40], "2 PEM blocks begin, 1 are whole"},
		"cut in the last line": {both[:len(both)-4], "2 PEM blocks begin, 1 are whole"},
		"cut in the only one":  {string(one[:100]), "1 PEM blocks begin, 0 are whole"},
		"first one damaged":    {strings.Replace(both, "MII", "M!I", 1), "2 PEM blocks begin, 1 are whole"},
		"one is none":          {both + "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n", "certificate 3 in it"},
		"nothing":              {"", "no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pemfile.Pool([]byte(row.content))
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
}

func TestPair(t *testing.T) {
	ca := certtest.NewCA(t, "ca")
	p, other := ca.Issue("g.test"), ca.Issue("g.test")
	chain := bytes.Join([][]byte{p.CertPEM, other.CertPEM}, nil)
	if pair, err := pemfile.Pair(chain, p.KeyPEM); err != nil || len(pair.Certificate) != 2 {
		t.Errorf("%v", err)
	}
	for name, row := range map[string]struct {
		chain, key []byte
		want       string
		blamed     bool // the key
	}{
		"chain cut short": {chain[:len(chain)-100], p.KeyPEM, "2 PEM blocks begin, 1 are whole", false},
		"key cut short":   {chain, p.KeyPEM[:100], "cut short", true},
		"no key":          {chain, chain, "no private key", true},
		"another's key":   {chain, other.KeyPEM, "does not match", true},
		"encrypted":       {chain, []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\naGVsbG8=\n-----END ENCRYPTED PRIVATE KEY-----\n"), "openssl pkey", true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pemfile.Pair(row.chain, row.key)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("%v, want %q", err, row.want)
			}
			if _, blamed := errors.AsType[*pemfile.KeyError](err); blamed != row.blamed {
				t.Errorf("the key is blamed: %v", blamed)
			}
		})
	}
}

// Editors of Windows put a mark in front of UTF-8, and joined files have it within. OpenSSL and
// Go take no notice of a block behind one, Spring does not mind it.
func TestMarkInFront(t *testing.T) {
	const mark = "\ufeff"
	ca := certtest.NewCA(t, "ca")
	p := ca.Issue("g.test")
	marked := func(parts ...[]byte) string {
		file := filepath.Join(t.TempDir(), "marked.pem")
		if err := os.WriteFile(file, []byte(mark+string(bytes.Join(parts, []byte(mark)))), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if pair, err := pemfile.PairFiles(marked(p.CertPEM, ca.PEM), marked(p.KeyPEM)); err != nil || len(pair.Certificate) != 2 {
		t.Errorf("%v, want both certificates", err)
	}
	if pool, err := pemfile.PoolFile(marked(ca.PEM)); err != nil || !pool.Equal(ca.Pool()) {
		t.Error(err)
	}
}

// What is no file must neither block the gateway nor fill its memory.
func TestRead(t *testing.T) {
	folder := t.TempDir()
	pipe, large, small, wide := filepath.Join(folder, "pipe"), filepath.Join(folder, "large"), filepath.Join(folder, "small"), filepath.Join(folder, "wide")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(large, make([]byte, 5<<20), 0o600), os.WriteFile(small, []byte("x"), 0o600),
		os.WriteFile(wide, []byte("\xff\xfe-\x00-\x00"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		pipe: "not a regular file", "/dev/zero": "not a regular file", folder: "is a directory", large: "too large",
		folder + "/none": "no such file", wide: "it is UTF-16", "-----BEGIN CERTIFICATE-----": "PEM text",
	} {
		if _, err := pemfile.Read(file); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
	for _, file := range []string{small, "file:" + small} {
		if got, err := pemfile.Read(file); err != nil || string(got) != "x" {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
}
