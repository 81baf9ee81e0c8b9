package gozer_test

import (
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

// A key that was pasted where the name of its file belongs is not shown by any command, for
// any of the keys that name files or might.
func TestPastedKeysAreNotShown(t *testing.T) {
	pair := certtest.NewCA(t, "ca").Issue("g.test")
	certificate, _ := pair.Write()
	lines := strings.Split(strings.TrimSpace(string(pair.KeyPEM)), "\n")
	bare := strings.Join(lines[1:len(lines)-1], "")
	good := file(t, usersAndBooks)
	execute := func(t *testing.T, want string, args ...string) {
		t.Helper()
		var out strings.Builder
		code := gozer.Execute(t.Context(), &out, &out, args, gozer.WithListen(neverListen(t)))
		if code != 1 || !strings.Contains(out.String(), want) {
			t.Errorf("code %d, want %s in:\n%s", code, want, out.String())
		}
		for _, line := range lines[1 : len(lines)-1] {
			if strings.Contains(out.String(), line[:len(line)/2]) {
				t.Errorf("the key is shown:\n%s", out.String())
			}
		}
	}
	for form, value := range map[string]string{"PEM": string(pair.KeyPEM), "base64": bare, "URL of a file": "file:" + bare} {
		for name, setting := range map[string]struct{ key, beside string }{
			"key for upstreams":          {"gateway.tls.users.certificate-private-key", "gateway.tls.users.certificate=" + certificate},
			"certificate for upstreams":  {"gateway.tls.users.certificate", "gateway.tls.users.certificate-private-key=" + certificate},
			"certificate without a key":  {"gateway.tls.users.certificate", "server.port=0"},
			"key without a certificate":  {"gateway.tls.users.certificate-private-key", "server.port=0"},
			"authorities of upstreams":   {"gateway.tls.*.trust-certificate", "server.port=0"},
			"key of the proxy":           {"server.ssl.certificate-private-key", "server.ssl.certificate=" + certificate},
			"certificate of the proxy":   {"server.ssl.certificate", "server.ssl.certificate-private-key=" + certificate},
			"key of the management":      {"management.server.ssl.certificate-private-key", "management.server.ssl.certificate=" + certificate},
			"key of a further one":       {"gateway.ssl.certificates.a.certificate-private-key", "gateway.ssl.certificates.a.certificate=" + certificate},
			"authorities of registries":  {"eureka.client.tls.trust-certificate", "eureka.client.tls.enabled=true"},
			"key store":                  {"eureka.client.tls.key-store", "server.port=0"},
			"unknown":                    {"server.ssl.certificate-private-keys", "server.port=0"},
			"another kind of value":      {"server.port", "server.address=127.0.0.1"},
			"another kind of value, too": {"gateway.tls.users.verify", "server.port=0"},
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				execute(t, setting.key, "check", "--config", good, "--set", setting.beside, "--set", setting.key+"="+value)
				execute(t, setting.key, "run", "--config", good, "--set", setting.beside, "--set", setting.key+"="+value)
			})
		}
		for name, flags := range map[string][]string{
			"authorities": {"--ca", value}, "certificate": {"--cert", value, "--key", certificate}, "key": {"--cert", certificate, "--key", value},
		} {
			t.Run("health, "+name+", "+form, func(t *testing.T) {
				execute(t, "PEM text stands", append([]string{"health", "--url", "https://127.0.0.1:1/"}, flags...)...)
			})
		}
	}
}
