package e2e_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

// curl as a client of both versions.
func TestCurlOverTLS(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("there is no curl")
	}
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	g := startGateway(t, secureYAML(a.server.Issue("g.test"), b))
	_, port, _ := strings.Cut(g.Proxy, ":")
	ask := func(args ...string) (string, error) {
		args = append([]string{
			"-sS", "--max-time", "15", "--cacert", a.server.Write(), "--resolve", "g.test:" + port + ":127.0.0.1",
			"-w", " %{http_code} %{http_version}", "https://g.test:" + port + "/api/x",
		}, args...)
		out, err := exec.CommandContext(t.Context(), curl, args...).CombinedOutput()
		return string(out), err
	}
	for _, version := range []string{"1.2", "1.3"} {
		out, err := ask("--tlsv"+version, "--tls-max", version)
		if err != nil || !strings.HasSuffix(out, " 200 1.1") {
			t.Errorf("TLS %s: %s, %v", version, out, err)
		}
	}
	if out, err := ask("--http1.0"); err != nil || !strings.Contains(out, " 200 ") {
		t.Errorf("HTTP/1.0: %s, %v", out, err)
	}
	if out, err := ask("--tlsv1.0", "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0"); err == nil {
		t.Errorf("TLS 1.1: %s", out)
	}
}

// Which certificate is shown for which name.
func TestServerNames(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	pair := map[string]*certtest.Pair{
		"default": a.server.Issue("g.test"), "shop": a.server.Issue("shop.test", "*.shop.test"), "named": a.server.Issue("other.test"),
	}
	further := func(names ...string) (lines []string) {
		for _, name := range names {
			cert, key := pair[name].Write()
			lines = append(lines, "gateway.ssl.certificates."+name+": {certificate: "+cert+", certificate-private-key: "+key+"}")
		}
		return lines
	}
	all := append(further("shop", "named"), "gateway.ssl.certificates.named.hosts: [named.test, \"*.named.test\"]")
	g := startGateway(t, secureYAML(pair["default"], b, all...))
	for name, want := range map[string]string{
		"g.test": "default", "shop.test": "shop", "SHOP.test": "shop", "a.shop.test": "shop", "a.b.shop.test": "default",
		"named.test": "named", "x.named.test": "named", "other.test": "default", "unknown.test": "default", "": "default",
	} {
		if got := g.shown(&tls.Config{ServerName: name, InsecureSkipVerify: true}); got != serialOf(pair[want]) { //nolint:gosec // looks itself
			t.Errorf("%q: shown %s, want that of %s", name, got, want)
		}
	}
	strict := startGateway(t, "zuul.routes.api: {path: /api/**, url: \""+b.URL()+"\"}\n"+strings.Join(further("shop"), "\n"))
	if got := strict.shown(a.trusting("a.shop.test")); got != serialOf(pair["shop"]) {
		t.Errorf("without a default: shown %s", got)
	}
	for _, name := range []string{"g.test", ""} {
		got := strict.shown(&tls.Config{ServerName: name, InsecureSkipVerify: true}) //nolint:gosec // looks itself
		if !strings.Contains(got, "unrecognized name") {
			t.Errorf("%q without a default: %s", name, got)
		}
	}
}

// Clients with certificates of all sorts: what they get to know, and what the log says.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, fieldsBack())
	serverOnly := a.client.IssueLeaf(certtest.Leaf{Name: "svc", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	rows := []struct {
		name             string
		pair             *certtest.Pair
		alert12, alert13 string // for the client; empty: it is served
		log              string
	}{
		{name: "good", pair: a.client.Issue("alice")},
		{"missing", nil, "handshake failure", "certificate required", "client didn't provide a certificate"},
		{"expired", a.client.Expired("alice"), "expired certificate", "expired certificate", "certificate has expired"},
		{"of another authority", a.server.Issue("alice"), "unknown certificate authority", "unknown certificate authority", "signed by unknown authority"},
		{"for servers only", serverOnly, "bad certificate", "bad certificate", "incompatible key usage"},
	}
	for mode, optional := range map[string]bool{"need": false, "want": true} {
		g := startGateway(t, secureYAML(a.server.Issue("g.test"), b, "server.ssl.client-auth: "+mode, "server.ssl.trust-certificate: "+a.trust, "logging.level.root: debug"))
		for _, row := range rows {
			for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
				t.Run(mode+" "+row.name+" "+tls.VersionName(version), func(t *testing.T) {
					c := a.trusting("g.test")
					if row.pair != nil {
						c = a.trusting("g.test", row.pair)
					}
					c.MinVersion, c.MaxVersion = version, version
					want := map[uint16]string{tls.VersionTLS12: row.alert12, tls.VersionTLS13: row.alert13}[version]
					if optional && row.pair == nil {
						want = ""
					}
					before := g.Log.Count(row.log)
					answer, err := g.getTLS(c, "g.test")
					if want == "" {
						if err != nil || answer.Status != http.StatusOK {
							t.Fatalf("%v, %v", answer, err)
						}
						return
					}
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("the client gets %v", err)
					}
					eventually(t, "the log says "+row.log, func() bool { return g.Log.Count(row.log) > before })
				})
			}
		}
	}
}

// Whatever a client writes for the host, it is the same policy, or it is refused.
func TestC209SpellingsOfTheHost(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	g := startGateway(t, secureYAML(a.server.Issue("secure.test", "open.test"), b, "server.ssl.client-auth: need", "server.ssl.trust-certificate: "+a.trust))
	alice := a.client.Issue("alice")
	for _, row := range []struct {
		name, sni, host string
		status          int
	}{
		{"C209 as it is", "secure.test", "secure.test", 200},
		{"C209 another case", "SECURE.test", "Secure.TEST", 200},
		{"C209 dot in Host", "secure.test", "secure.test.", 200},
		{"C209 port in Host", "secure.test", "secure.test:443", 200},
		{"C209 dot and port in Host", "secure.test", "SECURE.test.:443", 200},
		{"C209 no name", "", "secure.test", 200},
		{"C209 S10 S46 another name", "open.test", "secure.test", 421},
		{"C209 another name with dot", "open.test", "secure.test.", 421},
	} {
		t.Run(row.name, func(t *testing.T) {
			with, without := a.trusting(row.sni, alice), a.trusting(row.sni)
			for _, c := range []*tls.Config{with, without} {
				c.InsecureSkipVerify = true // there may be no name to verify
			}
			answer, err := g.getTLS(with, row.host)
			if err != nil || answer.Status != row.status {
				t.Errorf("with a certificate: %v, %v", answer, err)
			}
			if answer, err := g.getTLS(without, row.host); err == nil {
				t.Errorf("without a certificate: %d", answer.Status)
			}
		})
	}
	t.Run("C209 dot in the server name", func(t *testing.T) {
		if got := g.helloWith(t, "secure.test."); !strings.Contains(got, "alert") {
			t.Errorf("the gateway answers %s", got)
		}
	})
	t.Run("C209 another host on a connection in use", func(t *testing.T) {
		conn, err := g.dialTLS(a.trusting("open.test", alice))
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(conn)
		for _, step := range []struct {
			host   string
			status int
		}{{"open.test", 200}, {"secure.test", 421}, {"open.test", 200}} {
			answer, err := askOn(conn, r, step.host)
			if err != nil || answer.Status != step.status {
				t.Fatalf("%s: %v, %v", step.host, answer, err)
			}
		}
	})
}

// helloWith sends a hello with a server name that Go's client would not send.
func (g *gateway) helloWith(t *testing.T, name string) string {
	t.Helper()
	recorder := &recording{}
	_ = tls.Client(recorder, &tls.Config{ServerName: strings.Repeat("x", len(name)), InsecureSkipVerify: true}).HandshakeContext(t.Context()) //nolint:gosec // only its first message
	hello := strings.Replace(recorder.sent.String(), strings.Repeat("x", len(name)), name, 1)
	conn := dial(t, g.Proxy)
	write(t, conn, hello)
	var head [5]byte
	if _, err := conn.Read(head[:]); err != nil {
		return err.Error()
	}
	if head[0] == 21 {
		return "alert"
	}
	return "handshake"
}

// What clients say about their certificates never reaches an upstream.
func TestClientCertificateHeader(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, fieldsBack())
	alice := a.client.IssueLeaf(certtest.Leaf{Name: "Alice \"A\"\r\nX-Admin: yes", Org: "Café", Hosts: []string{"spiffe://test/alice"}})
	forged := []string{"X-Client-Cert: forged", "x-client-CERT: forged", "X_Client_Cert: forged", "X-Client_Cert: forged", "Connection: X-Client-Cert"}
	for _, row := range []struct{ format, want string }{
		{"pem", "-----BEGIN%20CERTIFICATE-----%0A"},
		{"subject", `CN=Alice \"A\"\0D\0AX-Admin: yes,O=Caf\C3\A9`},
		{"xfcc", `;Subject="CN=Alice \\\"A\\\"\\0D\\0AX-Admin: yes,O=Caf\\C3\\A9";URI="spiffe://test/alice"`},
		{"rfc9440", ":MII"},
	} {
		t.Run(row.format, func(t *testing.T) {
			g := startGateway(t, secureYAML(a.server.Issue("g.test"), b, "server.ssl.client-auth: want", "server.ssl.trust-certificate: "+a.trust,
				"gateway.ssl.client-certificate-header: x-client-cert", "gateway.ssl.client-certificate-format: "+row.format))
			answer, err := g.getTLS(a.trusting("g.test", alice), "g.test", forged...)
			if err != nil || answer.Status != http.StatusOK {
				t.Fatalf("%v, %v", answer, err)
			}
			if !strings.Contains(answer.Body, row.want) || strings.Contains(answer.Body, "forged") {
				t.Errorf("the upstream got %s", answer.Body)
			}
			answer, err = g.getTLS(a.trusting("g.test"), "g.test", forged...)
			if err != nil || answer.Status != http.StatusOK {
				t.Fatalf("%v, %v", answer, err)
			}
			if strings.Contains(answer.Body, "forged") || strings.Contains(strings.ToLower(answer.Body), "client-cert") {
				t.Errorf("without a certificate the upstream got %s", answer.Body)
			}
		})
	}
}

// A file that cannot be used is named, and nothing of a key is shown.
func TestUnusableCertificates(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	pair, other := a.server.Issue("g.test"), a.server.Issue("g.test")
	cert, key := pair.Write()
	_, otherKey := other.Write()
	half := filepath.Join(t.TempDir(), "half.crt")
	if err := os.WriteFile(half, pair.CertPEM[:len(pair.CertPEM)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	encrypted := filepath.Join(t.TempDir(), "encrypted.key")
	secret := "c2VjcmV0IGtleQ=="
	for file, text := range map[string]string{
		encrypted:          "-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + secret + "\n-----END ENCRYPTED PRIVATE KEY-----\n",
		encrypted + ".old": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + secret + "\n-----END RSA PRIVATE KEY-----\n",
		encrypted + ".bad": "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----\n",
		encrypted + ".der": secret,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, row := range map[string]struct{ cert, key, want string }{
		"no certificate file":      {cert + ".none", key, cert + ".none: no such file"},
		"no key file":              {cert, key + ".none", key + ".none: no such file"},
		"key of another":           {cert, otherKey, "private key does not match public key"},
		"encrypted":                {cert, encrypted, "holds an encrypted key"},
		"encrypted in the old way": {cert, encrypted + ".old", "holds an encrypted key"},
		"half a chain":             {half, key, "1 PEM blocks begin, 0 are whole"},
		"not a key":                {cert, encrypted + ".bad", "failed to parse private key"},
		"not PEM":                  {cert, encrypted + ".der", "there is no private key in PEM form in it"},
		"a key as certificate":     {key, key, "there is no certificate in PEM form in it"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "gateway.yaml")
			yaml := "server.port: 0\nserver.ssl:\n  certificate: " + row.cert + "\n  certificate-private-key: " + row.key + "\n"
			if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			blamed := "gateway.yaml:3: error: server.ssl.certificate: "
			if row.key != key { // which is good
				blamed = "gateway.yaml:4: error: server.ssl.certificate-private-key: "
			}
			out, err := start{}.command("check", "--config", file).CombinedOutput()
			if err == nil || !strings.Contains(string(out), row.want) || !strings.Contains(string(out), blamed) {
				t.Errorf("%v\n%s", err, out)
			}
			if strings.Contains(string(out), secret) {
				t.Errorf("the report shows the key:\n%s", out)
			}
		})
	}
}
