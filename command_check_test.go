package gozer_test

import (
	"crypto/x509"
	"os"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

// Certificates that nobody will accept do not keep the gateway from starting; check warns.
func TestCheckOfCertificates(t *testing.T) {
	ca := certtest.NewCA(t, "ca")
	purpose := func(usage x509.ExtKeyUsage, hosts ...string) *certtest.Pair {
		return ca.IssueLeaf(certtest.Leaf{Name: "g.test", Hosts: hosts, Usages: []x509.ExtKeyUsage{usage}})
	}
	const proxy, management, further, registry = "server.ssl", "management.server.ssl", "gateway.ssl.certificates.a", "eureka.server.ssl"
	const upstream, registries = "gateway.tls.users", "eureka.client.tls"
	needs := map[string]string{further: further + ".hosts=g.test", registry: "eureka.server.enabled=true", registries: registries + ".enabled=true"}
	for name, row := range map[string]struct {
		pair *certtest.Pair
		want map[string]string // by entry; the others have nothing to say
	}{
		"good":    {ca.Issue("g.test"), nil},
		"any use": {purpose(x509.ExtKeyUsageAny, "g.test"), nil},
		"expired": {ca.Expired("g.test"), map[string]string{
			proxy: "clients will refuse the certificate: it, or one of its chain, has expired at 2", management: "has expired", further: "has expired", registry: "has expired",
			upstream: "servers will refuse the certificate: it, or one of its chain, has expired at 2", registries: "servers will refuse",
		}},
		"for clients": {purpose(x509.ExtKeyUsageClientAuth, "g.test"), map[string]string{
			proxy: "clients will refuse the certificate: its extended key usage has no serverAuth", management: "serverAuth", further: "serverAuth", registry: "serverAuth",
		}},
		"for servers": {purpose(x509.ExtKeyUsageServerAuth, "g.test"), map[string]string{
			upstream: "servers will refuse the certificate: its extended key usage has no clientAuth", registries: "no clientAuth",
		}},
		"without a host": {purpose(x509.ExtKeyUsageAny), map[string]string{
			proxy: "it names no host", management: "it names no host", further: "it names no host", registry: "it names no host",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			certificate, key := row.pair.Write()
			for _, entry := range []string{proxy, management, further, registry, upstream, registries} {
				var out strings.Builder
				args := []string{"check", "--config", file(t, usersAndBooks), "--set", entry + ".certificate=" + certificate, "--set", entry + ".certificate-private-key=" + key}
				if setting := needs[entry]; setting != "" {
					args = append(args, "--set", setting)
				}
				code := gozer.Execute(t.Context(), &out, &out, args)
				want := "configuration is valid\n"
				if text := row.want[entry]; text != "" {
					want = text
					wantPart(t, entry, out.String(), "--set: warning: "+entry+".certificate: ")
					wantPart(t, entry, out.String(), "0 errors, 1 warning\n")
				}
				wantPart(t, entry, out.String(), want)
				if code != 0 {
					t.Errorf("%s: code %d", entry, code)
				}
			}
		})
	}
}

// What run refuses to start with is an error of check, which leaves no trace of having looked.
func TestCheckOfWhatRunNeeds(t *testing.T) {
	folder := t.TempDir()
	certificate, _ := certtest.NewCA(t, "ca").Issue("g.test").Write()
	for name, row := range map[string]struct {
		set  []string
		want string
	}{
		"access log": {[]string{"gateway.access-log.file=" + folder + "/access.log"}, "configuration is valid"},
		"access log in no folder": {
			[]string{"gateway.access-log.file=/nonexistent/access.log"}, "--set: error: gateway.access-log.file: open /nonexistent/access.log: no such file or directory",
		},
		"access log that is a folder": {[]string{"gateway.access-log.file=" + folder}, "--set: error: gateway.access-log.file: open " + folder + ": is a directory"},
		"certificate of the registry": {
			[]string{"eureka.server.enabled=true", "eureka.server.ssl.certificate=" + certificate, "eureka.server.ssl.certificate-private-key=/nowhere"},
			"--set: error: eureka.server.ssl.certificate-private-key: /nowhere: no such file or directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"check", "--config", file(t, usersAndBooks), "--set", "gateway.access-log.enabled=true"}
			for _, setting := range row.set {
				args = append(args, "--set", setting)
			}
			var out strings.Builder
			code := gozer.Execute(t.Context(), &out, &out, args)
			if wantPart(t, "output", out.String(), row.want); (code == 0) != strings.HasSuffix(row.want, "valid") {
				t.Errorf("code %d", code)
			}
		})
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
