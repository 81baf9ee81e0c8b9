package e2e_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/certtest"
)

// secureUpstream is a server that speaks TLS, as a test can make it misbehave.
type secureUpstream struct {
	*httptest.Server
	Addr       string
	requests   atomic.Int64
	handshakes atomic.Int64
	sni        atomic.Pointer[string] // of the last handshake
}

func startSecure(t *testing.T, config *tls.Config, handler http.Handler) *secureUpstream {
	t.Helper()
	u := &secureUpstream{}
	choose := config.GetConfigForClient
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		u.handshakes.Add(1)
		u.sni.Store(&hello.ServerName)
		if choose != nil {
			return choose(hello)
		}
		return nil, nil
	}
	u.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.requests.Add(1)
		handler.ServeHTTP(w, r)
	}))
	u.TLS, u.Config.ErrorLog = config, slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	u.StartTLS()
	t.Cleanup(u.Close)
	u.Addr = u.Listener.Addr().String()
	return u
}

// Port is that of Addr, with its colon.
func (u *secureUpstream) Port() string { return strings.TrimPrefix(u.Addr, "127.0.0.1") }

// SNI is the name in the last handshake.
func (u *secureUpstream) SNI() string {
	if name := u.sni.Load(); name != nil {
		return *name
	}
	return "(no handshake)"
}

func shows(pairs ...*certtest.Pair) *tls.Config {
	config := &tls.Config{}
	for _, p := range pairs {
		config.Certificates = append(config.Certificates, p.TLS)
	}
	return config
}

// mutual makes the server insist on a certificate of ca.
func mutual(config *tls.Config, ca *certtest.CA, version uint16) *tls.Config {
	config.ClientAuth, config.ClientCAs, config.MaxVersion = tls.RequireAndVerifyClientCert, ca.Pool(), version
	return config
}

// whoAreYou answers with the common name of the client's certificate.
func whoAreYou() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if chain := r.TLS.PeerCertificates; len(chain) > 0 {
			_, _ = io.WriteString(w, chain[0].Subject.CommonName)
		}
	})
}

// client is the part of gateway.tls that shows a pair.
func showing(p *certtest.Pair) string {
	certificate, key := p.Write()
	return fmt.Sprintf("certificate: %q, certificate-private-key: %q", certificate, key)
}

// What goes wrong between gateway and upstream is 502, with the cause in the log; the
// next server is tried, whatever the method.
func TestSecureUpstreams(t *testing.T) {
	t.Parallel()
	ca, other := certtest.NewCA(t, "ours"), certtest.NewCA(t, "another")
	good, ours := ca.Issue("127.0.0.1"), ca.Issue("gateway.test")
	rows := []struct {
		name     string
		upstream *tls.Config
		settings string // beside the authority
		cause    string // "" if all is well
		body     string
	}{
		{"good", shows(good), "", "", ""},
		{"mutual", mutual(shows(good), ca, tls.VersionTLS13), showing(ours), "", "gateway.test"},
		{"mutual12", mutual(shows(good), ca, tls.VersionTLS12), showing(ours), "", "gateway.test"},
		{"expired", shows(ca.Expired("127.0.0.1")), "", "certificate-expired", ""},
		{"wrong-name", shows(ca.Issue("b.test")), "", "wrong-name", ""},
		{"named", shows(ca.Issue("b.test")), "server-name: b.test", "", ""},
		{"wrong-ca", shows(other.Issue("127.0.0.1")), "", "unknown-authority", ""},
		{"unverified", shows(other.Expired("b.test")), "verify: false", "", ""},
		{"no-client-certificate", mutual(shows(good), ca, tls.VersionTLS13), "", "client-certificate-required", ""},
		{"no-client-certificate12", mutual(shows(good), ca, tls.VersionTLS12), "", "client-certificate-required", ""},
		{"expired-client", mutual(shows(good), ca, tls.VersionTLS13), showing(ca.Expired("gateway.test")), "client-certificate-refused", ""},
		{"wrong-client", mutual(shows(good), ca, tls.VersionTLS13), showing(other.Issue("gateway.test")), "client-certificate-refused", ""},
		{"old", mutual(shows(good), ca, tls.VersionTLS12), showing(ours) + ", min-version: TLSv1.3", "protocol-version", ""},
	}
	sound := startSecure(t, shows(good, ca.Issue("b.test")), whoAreYou())
	var routes, services, security strings.Builder
	upstreams := map[string]*secureUpstream{}
	for _, row := range rows {
		u := startSecure(t, row.upstream, whoAreYou())
		upstreams[row.name] = u
		fmt.Fprintf(&routes, "  service-%[1]s: {path: /service/%[1]s/**, serviceId: %[1]s}\n  url-%[1]s: {path: /url/%[1]s/**, url: \"https://%[2]s\"}\n", row.name, u.Addr)
		fmt.Fprintf(&routes, "  both-%[1]s: {path: /both/%[1]s/**, serviceId: both-%[1]s}\n", row.name)
		fmt.Fprintf(&services, "%[1]s.ribbon.listOfServers: https://%[2]s\nboth-%[1]s.ribbon.listOfServers: https://%[2]s, https://%[3]s\n", row.name, u.Addr, sound.Addr)
		for _, kind := range []string{"", "url-", "both-"} {
			fmt.Fprintf(&security, "  %s%s: {%s}\n", kind, row.name, row.settings)
		}
	}
	g := startGateway(t, fmt.Sprintf("zuul.routes:\n%s%sgateway.tls:\n  \"*\": {trust-certificate: %q}\n%s", routes.String(), services.String(), ca.Write(), security.String()))
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			want := http.StatusOK
			if row.cause != "" {
				want = http.StatusBadGateway
			}
			route := "URL route url-" + row.name
			if row.settings == "" {
				route = "URL routes" // it is like the others
			}
			for kind, who := range map[string]string{"service": "service " + row.name, "url": route} {
				ask := func() *answer {
					return g.Do(http.MethodPost, "/"+kind+"/"+row.name+"/x", "body").wantStatus(t, want)
				}
				a := ask()
				if row.cause == "" {
					if a.Body != row.body {
						t.Errorf("the upstream saw %q, want %q", a.Body, row.body)
					}
					continue
				}
				if strings.Contains(a.Body, "x509") || strings.Contains(a.Body, "127.0.0.1") {
					t.Errorf("the client is told %s", a.Body)
				}
				line := fmt.Sprintf(`msg="no TLS session with an upstream" for=%q address=%s cause=%s `, who, upstreams[row.name].Addr, row.cause)
				eventually(t, "the log has "+line, func() bool {
					if g.Log.Count(line) == 0 {
						ask() // the server may have refused too late for the gateway to wait for it
					}
					return g.Log.Count(line) == 1
				})
				counted := fmt.Sprintf("gozer_upstream_tls_failures_total{cause=%q,", row.cause)
				if a, err := g.tryGet(g.AdminURL("/actuator/prometheus")); err != nil || !strings.Contains(a.Body, counted) || !strings.Contains(a.Body, `outcome="tls"`) {
					t.Errorf("not counted: %v", err)
				}
				said := regexp.MustCompile(`msg="request failed" method=POST path=/` + kind + "/" + row.name + `/x .* status=502 .*\(` + row.cause + `\)`)
				eventually(t, "the failed request says why", func() bool { return said.MatchString(g.Log.String()) })
			}
			if row.cause == "" {
				return
			}
			if n := upstreams[row.name].requests.Load(); n != 0 {
				t.Errorf("%d requests arrived", n)
			}
			for answered, late := 0, 0; answered < 4 && late < 20; {
				if g.Do(http.MethodPost, "/both/"+row.name+"/x", "body").Status == http.StatusOK {
					answered++
					continue
				}
				late++
				eventually(t, "the log blames a refusal that came too late", func() bool { return g.refusedLate("/both/"+row.name+"/x", row.cause) == late })
			}
		})
	}
}

// refusedLate counts the failures of requests that were sent already when the server refused
// the session, so that the log does not name that cause.
func (g *gateway) refusedLate(path, cause string) (n int) {
	for line := range strings.Lines(g.Log.String()) {
		if strings.Contains(line, `msg="request failed" method=POST path=`+path+" ") && strings.Contains(line, "remote error: tls: ") && !strings.Contains(line, "("+cause+")") {
			n++
		}
	}
	return n
}

// Certificates that are not verified are said so at the start and at each reload.
func TestUnverifiedUpstreams(t *testing.T) {
	t.Parallel()
	u := startSecure(t, shows(certtest.NewCA(t, "another").Issue("b.test")), whoAreYou())
	yaml := fmt.Sprintf(`
zuul:
  ssl-hostname-validation-enabled: false
  routes:
    url: {path: /url/**, url: "https://%[1]s"}
    strict: {path: /strict/**, url: "https://%[1]s"}
    users: /users/**
    lax: /lax/**
users.ribbon.listOfServers: https://%[1]s
lax.ribbon: {listOfServers: "%[1]s", IsSecure: true}
gateway.tls: {strict.verify: true, lax.verify: false}
`, u.Addr)
	g := startGateway(t, yaml)
	for target, want := range map[string]int{"/url/x": 200, "/strict/x": 502, "/users/x": 502, "/lax/x": 200} {
		if a := g.Get(target); a.Status != want {
			t.Errorf("%s: %d, want %d", target, a.Status, want)
		}
	}
	const zuul, lax = "URL routes accept any certificate", "any certificate of upstreams of lax is accepted"
	if g.Log.Count(zuul) != 1 || g.Log.Count(lax) != 1 {
		t.Errorf("%d and %d warnings at the start", g.Log.Count(zuul), g.Log.Count(lax))
	}
	g.Reload(yaml, reloaded)
	if g.Log.Count(zuul) != 2 || g.Log.Count(lax) != 2 {
		t.Errorf("%d and %d warnings after a reload", g.Log.Count(zuul), g.Log.Count(lax))
	}
}

// Services with different certificates share no connection, though they have one server.
// What a reload changes holds from the next request on.
func TestConnectionsAreNotSharedAcrossSettings(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t, "ours")
	u := startSecure(t, mutual(shows(ca.Issue("127.0.0.1")), ca, tls.VersionTLS13), whoAreYou())
	one, two, authorities := showing(ca.Issue("one.test")), showing(ca.Issue("two.test")), ca.Write()
	yaml := func(first, second string) string {
		return fmt.Sprintf(`
zuul.routes:
  one: /one/**
  two: /two/**
  three: {path: /three/**, url: "https://%[1]s"}
  four: {path: /four/**, url: "https://%[1]s"}
one.ribbon.listOfServers: https://%[1]s
two.ribbon.listOfServers: https://%[1]s
gateway.tls:
  "*": {trust-certificate: %[2]q}
  one: {%[3]s}
  two: {%[4]s}
  three: {%[3]s}
  four: {%[4]s}
`, u.Addr, authorities, first, second)
	}
	g := startGateway(t, yaml(one, two))
	expect := func(first, second string) {
		t.Helper()
		for range 5 {
			for target, want := range map[string]string{"/one/x": first, "/two/x": second, "/three/x": first, "/four/x": second} {
				if got := g.Get(target).wantStatus(t, http.StatusOK).Body; got != want {
					t.Errorf("%s came as %q, want %q", target, got, want)
				}
			}
		}
	}
	expect("one.test", "two.test")
	g.Reload(yaml(two, one), reloaded)
	expect("two.test", "one.test")
	before := u.handshakes.Load()
	g.Reload(yaml(two, one)+"zuul.retryable: true\n", reloaded)
	expect("two.test", "one.test")
	if n := u.handshakes.Load() - before; n != 0 {
		t.Errorf("%d new sessions after a reload that changes nothing about them", n)
	}
}

// replace puts new content into a file at once.
func replace(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file+".next", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".next", file); err != nil {
		t.Fatal(err)
	}
}

// The gateway's certificate and the authorities change while requests go on: none fails.
func TestCertificatesOfUpstreamsRotate(t *testing.T) {
	t.Parallel()
	before, after := certtest.NewCA(t, "before"), certtest.NewCA(t, "after")
	clients := x509.NewCertPool()
	clients.AddCert(before.Cert)
	clients.AddCert(after.Cert)
	server := &atomic.Pointer[tls.Config]{}
	serve := func(p *certtest.Pair) {
		config := shows(p)
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, clients
		server.Store(config)
	}
	serve(before.Issue("127.0.0.1"))
	client := atomic.Pointer[string]{}
	u := startSecure(t, &tls.Config{
		Certificates:       []tls.Certificate{before.Issue("127.0.0.1").TLS},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return server.Load(), nil },
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client.Store(&r.TLS.PeerCertificates[0].Subject.CommonName)
		identify().ServeHTTP(w, r)
	}))
	authorities := before.Write()
	certificate, key := before.Issue("first.test").Write()
	g := startGateway(t, fmt.Sprintf(`
zuul.routes.users: /users/**
zuul.routes.direct: {path: /direct/**, url: "https://%[1]s"}
users.ribbon.listOfServers: https://%[1]s
gateway.tls: {"*": {trust-certificate: %[2]q, certificate: %[3]q, certificate-private-key: %[4]q}}
`, u.Addr, authorities, certificate, key))
	loads := []*load{startLoad(t, g.URL("/users/x"), http.MethodGet, http.MethodPost), startLoad(t, g.URL("/direct/x"), http.MethodGet, http.MethodPost)}
	progress := func() {
		for _, l := range loads {
			l.Progress(50)
		}
	}
	seen := func(name string) {
		t.Helper()
		eventually(t, name+" is shown", func() bool { return *client.Load() == name })
		progress()
	}
	progress()
	after.Issue("second.test").Replace(certificate, key)
	seen("second.test")

	eventually(t, "the log tells of the renewal", func() bool { return g.Log.Count("certificates of upstreams renewed") == 1 })
	good, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	complaints := g.Log.Count("the old ones stay") // a look between the two files of a pair makes one
	replace(t, certificate, []byte("broken"))
	eventually(t, "the broken file is told of", func() bool { return g.Log.Count("the old ones stay") > complaints })
	progress()
	replace(t, certificate, good)

	renewed := g.Log.Count("certificates of upstreams renewed")
	replace(t, authorities, append(append([]byte{}, before.PEM...), after.PEM...))
	eventually(t, "both authorities are trusted", func() bool { return g.Log.Count("certificates of upstreams renewed") > renewed })
	serve(after.Issue("127.0.0.1"))
	replace(t, authorities, after.PEM)
	eventually(t, "the new authority alone is trusted", func() bool { return g.Log.Count("certificates of upstreams renewed") > renewed+1 })
	progress()
	for _, l := range loads {
		t.Logf("%d requests", l.Stop())
	}
	replace(t, authorities, before.PEM)
	eventually(t, "the old authority is back", func() bool { return g.Log.Count("certificates of upstreams renewed") > renewed+2 })
	g.Get("/users/x").wantStatus(t, http.StatusBadGateway)
}

// A name that is written otherwise is the same name (C209); an address is none (Z03).
func TestNameOfURLRoutes(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t, "ours")
	u := startSecure(t, shows(ca.Issue("localhost", "127.0.0.1", "b.test")), whoAreYou())
	g := startGateway(t, fmt.Sprintf(`
zuul.add-host-header: true
zuul.routes:
  host: {path: /host/**, url: "https://localhost%[1]s"}
  dot: {path: /dot/**, url: "https://127.0.0.1%[1]s"}
  case: {path: /case/**, url: "https://LOCALHOST%[1]s"}
  address: {path: /address/**, url: "https://127.0.0.1%[1]s"}
  own: {path: /own/**, url: "https://127.0.0.1%[1]s"}
gateway.tls:
  "*": {trust-certificate: %[2]q}
  own: {server-name: b.test}
  dot: {server-name: B.test.}
`, u.Port(), ca.Write()))
	for _, row := range []struct{ name, target, sni string }{
		{"host", "/host/x", "localhost"},
		{"C209 trailing dot", "/dot/x", "b.test"},
		{"C209 other case", "/case/x", "localhost"},
		{"Z03 address", "/address/x", ""},
		{"C212 override", "/own/x", "b.test"},
	} {
		u.sni.Store(nil)
		g.Get(row.target, "Host: client.test").wantStatus(t, http.StatusOK)
		if sni := u.SNI(); sni != row.sni {
			t.Errorf("%s: SNI %q, want %q", row.name, sni, row.sni)
		}
	}
}

const eurekaInstance = `{"applications":{"versions__delta":"1","apps__hashcode":"UP_1_","application":[{"name":"SVC","instance":[{
	"instanceId":"i","hostName":%q,"app":"SVC","ipAddr":"127.0.0.1","status":"UP","vipAddress":"svc","secureVipAddress":"svc",
	"port":{"$":1,"@enabled":"true"},"securePort":{"$":%s,"@enabled":%q},"dataCenterInfo":{"name":"MyOwn"}}]}]}}`

// Instances from a registry that is spoken to over TLS too.
func TestSecureInstances(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t, "ours")
	var target atomic.Pointer[string]
	u := startSecure(t, shows(ca.Issue("127.0.0.1", "a.test"), ca.Issue("localhost", "b.test")), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.RequestURI + " " + r.Host
		target.Store(&line)
	}))
	for _, row := range []struct {
		name, host, settings, sni string
	}{
		{"C212 host name", "localhost", "", "localhost"},
		{"C212 address that the gateway prefers", "b.test", "svc.ribbon.UseIPAddrForServer: true", "b.test"},
		{"C212 the instance prefers its address", "127.0.0.1", "", ""},
		{"C212 documented override", "127.0.0.1", "  svc: {server-name: b.test}", "b.test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			u := startSecure(t, u.TLS.Clone(), u.Config.Handler)
			registry := startSecure(t, shows(ca.Issue("localhost")), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, eurekaInstance, row.host, u.Port()[1:], "true")
			}))
			g := startGateway(t, fmt.Sprintf(`
eureka.client:
  service-url.defaultZone: "https://localhost%s/eureka/"
  register-with-eureka: false
  disable-delta: true
  tls: {enabled: true, trust-certificate: %[2]q}
gateway.tls:
  "*": {trust-certificate: %[2]q}
%[3]s
`, registry.Port(), ca.Write(), row.settings))
			eventually(t, "C213 the secure port answers", func() bool { return g.Get("/svc/a%20b%2Fc?x=%2B").Status == http.StatusOK })
			if sni := u.SNI(); sni != row.sni {
				t.Errorf("SNI %q, want %q", sni, row.sni)
			}
			if got := strings.Fields(*target.Load())[0]; got != "/a%20b%2Fc?x=%2B" {
				t.Errorf("C213 %s arrived", got)
			}
			if sni := registry.SNI(); sni != "localhost" {
				t.Errorf("C212 the registry was asked for %q", sni)
			}
		})
	}
}

// Files that cannot be read are an error with file, line and key; a reload with them is
// refused.
func TestCheckReadsCertificates(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t, "ours")
	good := fmt.Sprintf("zuul.routes.users: /users/**\nusers.ribbon.listOfServers: a:443\ngateway.tls:\n  users: {trust-certificate: %q}\n", ca.Write())
	bad := good + "  \"*\":\n    certificate: /nowhere/tls.crt\n    certificate-private-key: /nowhere/tls.key\n"
	file := t.TempDir() + "/gateway.yaml"
	replace(t, file, []byte(bad))
	out, err := start{}.command("check", "--config", file).CombinedOutput()
	if err == nil {
		t.Errorf("accepted: %s", out)
	}
	for _, want := range []string{
		file + ":6: error: gateway.tls.*.certificate: /nowhere/tls.crt: no such file or directory",
		file + ":7: error: gateway.tls.*.certificate-private-key: /nowhere/tls.key: no such file or directory",
	} {
		if strings.Count(string(out), want) != 1 {
			t.Errorf("want %q once in\n%s", want, out)
		}
	}
	g := startGateway(t, good)
	g.Reload(bad, refused)
}

// A client that waits for a handshake is not kept waiting for ever.
func TestUpstreamThatDoesNotShakeHands(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // the kernel takes connections, nobody else does
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g := startGateway(t, fmt.Sprintf("zuul.routes.users: {path: /users/**}\nusers.ribbon: {listOfServers: \"https://%s\", ConnectTimeout: 200}\n", l.Addr()))
	began := time.Now()
	g.Get("/users/x").wantStatus(t, http.StatusGatewayTimeout)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("answered after %v", took)
	}
	eventually(t, "the log says why", func() bool { return g.Log.Count("cause=timeout") == 1 })
}
