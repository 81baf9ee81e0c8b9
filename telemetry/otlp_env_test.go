package telemetry_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/telemetry"
)

// What is only half there would be fewer authorities than were meant, or a shorter chain.
func TestFilesOfOTLP(t *testing.T) {
	ca := certtest.NewCA(t, "ca")
	own, other := ca.Issue("g.test"), ca.Issue("g.test")
	file := func(parts ...[]byte) string {
		name := filepath.Join(t.TempDir(), "some.pem")
		if err := os.WriteFile(name, bytes.Join(parts, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	cut := ca.PEM[:len(ca.PEM)-40]
	const authorities, shown, secret = "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_KEY"
	for name, row := range map[string]struct {
		trust, certificate, key string
		blamed, want            string
	}{
		"all whole":              {trust: file(ca.PEM, ca.PEM), certificate: file(own.CertPEM, ca.PEM), key: file(own.KeyPEM)},
		"authorities cut short":  {trust: file(ca.PEM, cut), blamed: authorities, want: "2 PEM blocks begin, 1 are whole"},
		"authorities are none":   {trust: file(own.KeyPEM), blamed: authorities, want: "there is no certificate"},
		"authorities not there":  {trust: "/none.pem", blamed: authorities, want: "no such file"},
		"chain cut short":        {certificate: file(own.CertPEM, cut), key: file(own.KeyPEM), blamed: shown, want: "2 PEM blocks begin, 1 are whole"},
		"key of another":         {certificate: file(own.CertPEM), key: file(other.KeyPEM), blamed: secret, want: "does not match"},
		"key in place of a file": {certificate: file(own.CertPEM), key: string(own.KeyPEM), blamed: secret, want: "PEM text stands"},
		"no key":                 {certificate: file(own.CertPEM), blamed: shown, want: "no file is named for its private key"},
		"key alone":              {key: file(own.KeyPEM), blamed: secret, want: "no file is named for its certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{authorities: row.trust, shown: row.certificate, secret: row.key}
			x, err := telemetry.Env(func(name string) string { return env[name] }).Exporter(telemetry.TracesSignal)
			if row.want == "" {
				if err != nil || !x.TLS.RootCAs.Equal(ca.Pool()) || len(x.TLS.Certificates[0].Certificate) != 2 {
					t.Fatalf("%v, %v", x.TLS, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.blamed+": ") || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "-----BEGIN") {
				t.Errorf("%v, want %s, %q", err, row.blamed, row.want)
			}
		})
	}
}
