package pemfile_test

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/pemfile"
)

// What stands in place of a file's name may be a key, in whichever form somebody pasted it.
func TestKeyInPlaceOfAName(t *testing.T) {
	key := certtest.NewCA(t, "ca").Issue("g.test").KeyPEM
	block, _ := pem.Decode(key)
	body := base64.StdEncoding.EncodeToString(block.Bytes)
	for name, value := range map[string]string{
		"PEM":                       string(key),
		"on one line":               strings.ReplaceAll(string(key), "\n", " "),
		"lines with \\n":            strings.ReplaceAll(string(key), "\n", `\n`),
		"base64":                    body,
		"base64 in lines":           body[:64] + "\n" + body[64:],
		"base64 in words":           body[:64] + " " + body[64:],
		"base64 as a file":          "file:" + body,
		"base64 in quotes":          `"` + body + `"`,
		"base64 of a name too long": strings.Repeat(body, 40),
		"Ed25519":                   "MC4CAQAwBQYDK2VwBCIEI/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u=",
		"slashes all over":          "m/" + strings.Repeat("a1B+/", 16),
	} {
		t.Run(name, func(t *testing.T) {
			_, read := pemfile.Read(value)
			_, pool := pemfile.PoolFile(value)
			_, certificate := pemfile.PairFiles(value, value)
			for _, err := range []error{read, pool, certificate, pemfile.Named(value, errors.New("PEM text"))} {
				if err == nil || !strings.HasPrefix(err.Error(), "PEM text") || strings.Contains(err.Error(), value[len(value)/2:]) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

func TestNamesAreShown(t *testing.T) {
	folder := t.TempDir()
	long := filepath.Join(folder, strings.Repeat("long", 20))
	if err := os.WriteFile(long, bytes.Repeat([]byte("x"), 10), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		"/nowhere/tls.crt", "tls.key", "file:/etc/gateway/tls/private/certificates/production/gateway-2026.pem", "", long,
		filepath.Join(folder, strings.Repeat("none", 20)),
	} {
		if _, err := pemfile.PoolFile(file); err == nil || !strings.HasPrefix(err.Error(), file+": ") {
			t.Errorf("%v, want %s", err, file)
		}
	}
}
