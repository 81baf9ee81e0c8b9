package gozer_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// registration is a document as clients post it.
func registration(app, id string) string {
	return string(eureka.Encoder{}.AppendInstance(nil, &eureka.Instance{
		ID: id, App: strings.ToUpper(app), HostName: "h", IPAddr: "10.0.0.1", VIPAddress: app, Status: eureka.Up,
		Port: eureka.Port{Number: 80, Enabled: true}, DataCenter: eureka.DataCenter{Name: eureka.MyOwn},
	}))
}

func post(t *testing.T, h http.Handler, target, body string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func TestEmbeddedRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := discover(t, "eureka.server.enabled: true\n", nil)
		if got := post(t, d.Registry(), "/eureka/apps/USERS", registration("users", "h:1")); got != http.StatusNoContent {
			t.Fatalf("registration: %d", got)
		}
		after(100 * time.Millisecond)
		d.wantRoutes(t, `{"/users/**":"users"}`)
		d.wantServers(t, "users", "h:80")
		if got := get(t, d.Management(), "/actuator/health").Body.String(); !strings.Contains(got, `"registry":{"status":"UP","details":{"applications":1,"expired":0,"instances":1,"preserving":false}}`) {
			t.Error(got)
		}
		wantAnswer(t, ask(t, d.Registry(), http.MethodDelete, "/eureka/apps/USERS/h:1"), http.StatusOK, "")
		after(100 * time.Millisecond)
		d.wantRoutes(t, `{}`)
		d.end(t)
	})
}

func TestEmbeddedRegistryListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{network: memhttp.NewNetwork()}
		log, lines := logged()
		g := newGateway(t, "server.address: 127.0.0.1\neureka.server: {enabled: true, address: 127.0.0.1}\n", p.listen(), log)
		p.running = run(t, g)
		synctest.Wait()
		p.wantStatus(t, "127.0.0.1:8761/eureka/apps", http.StatusOK)
		p.wantStatus(t, readiness, http.StatusOK)
		reload(t, g, "server.address: 127.0.0.1\neureka.server: {enabled: true, address: 127.0.0.1, renewal-percent-threshold: 0.5}\n")
		if !strings.Contains(lines.String(), "key=eureka.server") {
			t.Errorf("log %s", lines)
		}
		p.stop()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		p.wantRefused(t, "127.0.0.1:8761/eureka/apps")
	})
}

func TestRegistryNeedsItsOwnPort(t *testing.T) {
	var out strings.Builder
	code := gozer.Execute(t.Context(), &out, &out, []string{"check", "--config", file(t, "server.port: 8761\neureka.server.enabled: true\n")})
	if code != 1 || !strings.Contains(out.String(), "gateway.yaml:1: error: eureka.server.port: is 8761, and so is server.port") {
		t.Errorf("%d %s", code, &out)
	}
}

// A Spring registry's own file does for "gateway registry", and the registry takes
// neither itself for a peer nor the URL that clients assume when none is written: it
// serves its list at once.
func TestRegistryCommand(t *testing.T) {
	for name, client := range map[string]string{
		"its own URL": `
  instance: {hostname: localhost}
  client:
    service-url: {defaultZone: "http://${eureka.instance.hostname}:${server.port}/eureka/"}
`,
		"no URL": "\n  client: {register-with-eureka: false, fetch-registry: false}\n",
	} {
		t.Run(name, func(t *testing.T) { registryCommand(t, "server: {port: 18761, address: 127.0.0.1}\neureka:"+client) })
	}
}

// anyPort listens on a free port instead of what it is asked for, and tells which.
func anyPort(opened chan<- string) func(ctx context.Context, address string) (net.Listener, error) {
	return func(ctx context.Context, _ string) (net.Listener, error) {
		var c net.ListenConfig
		l, err := c.Listen(ctx, "tcp", "127.0.0.1:0")
		if err == nil {
			opened <- l.Addr().String()
		}
		return l, err
	}
}

func registryCommand(t *testing.T, spring string) {
	t.Helper()
	asked, opened := make(chan string, 2), make(chan string, 2)
	listen := func(ctx context.Context, address string) (net.Listener, error) {
		asked <- address
		return anyPort(opened)(ctx, address)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	var out strings.Builder
	go func() {
		done <- gozer.Execute(ctx, &out, &out, []string{"registry", "--config", file(t, spring)}, gozer.WithListen(listen))
	}()
	if got := <-asked; got != "127.0.0.1:18761" {
		t.Errorf("listens at %s", got)
	}
	wantServed(t, http.MethodGet, "http://"+<-opened+"/eureka/apps/", "<applications><versions__delta>1</versions__delta><apps__hashcode></apps__hashcode></applications>")
	stop()
	if code := <-done; code != 0 || len(asked) > 0 {
		t.Errorf("ended with %d, %d more listeners: %s", code, len(asked), &out)
	}
}

// certificate writes a certificate, signed by parent or itself, and its key.
func certificate(t *testing.T, dir, name string, parent *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(name))), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: parent == nil, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	signer, by := template, any(key)
	if parent != nil {
		signer, by = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for kind, bytes := range map[string][]byte{"CERTIFICATE": der, "EC PRIVATE KEY": private} {
		path := filepath.Join(dir, name+map[string]string{"CERTIFICATE": ".pem", "EC PRIVATE KEY": ".key"}[kind])
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestRegistryWithCertificates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		authority := certificate(t, dir, "authority", nil)
		certificate(t, dir, "registry.test", &authority)
		billing := certificate(t, dir, "billing", &authority)
		stranger := certificate(t, dir, "stranger", nil)
		p := &place{network: memhttp.NewNetwork()}
		p.running = run(t, newGateway(t, strings.ReplaceAll(`
server.address: 127.0.0.1
eureka.server:
  enabled: true
  address: 127.0.0.1
  ssl: {certificate: DIR/registry.test.pem, certificate-private-key: DIR/registry.test.key, client-auth: want, trust-certificate: DIR/authority.pem}
  users: {billing: {certificate: billing, applications: billing}}
`, "DIR", dir), p.listen()))
		synctest.Wait()
		for name, row := range map[string]struct {
			certificates []tls.Certificate
			app          string
			want         int
		}{
			"a user": {[]tls.Certificate{billing}, "billing", 204}, "another's application": {[]tls.Certificate{billing}, "mail", 403},
			"nobody": {nil, "billing", 401}, "a stranger": {[]tls.Certificate{stranger}, "billing", 401},
		} {
			pool := x509.NewCertPool()
			pool.AddCert(authority.Leaf)
			rt := &http.Transport{
				DialContext: func(ctx context.Context, n, _ string) (net.Conn, error) {
					return p.network.Dial(ctx, n, "127.0.0.1:8761")
				},
				DisableKeepAlives: true,
				TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: row.certificates},
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://registry.test:8761/eureka/apps/"+row.app, strings.NewReader(registration(row.app, "h:1")))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			got := 0
			if res, err := rt.RoundTrip(req); err == nil {
				got = res.StatusCode
				_ = res.Body.Close()
			}
			if got != row.want {
				t.Errorf("%s: %d, want %d", name, got, row.want)
			}
		}
		after(10 * time.Second) // TLS takes its time to say goodbye over a pipe
		p.stop()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
	})
}

func TestRegistryWithoutItsCertificate(t *testing.T) {
	const yaml = "eureka.server: {enabled: true}\neureka.server.ssl.certificate: /none.pem\neureka.server.ssl.certificate-private-key: /none.key\n"
	const want = "gateway.yaml:2: error: eureka.server.ssl.certificate: /none.pem: no such file"
	if _, err := gozer.New(parse(t, yaml)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("New: %v", err)
	}
	var out strings.Builder
	code := gozer.Execute(t.Context(), &out, &out, []string{"registry", "--config", file(t, yaml)}, gozer.WithListen(neverListen(t)))
	if code != 1 || !strings.Contains(out.String(), want) {
		t.Errorf("code %d: %s", code, &out)
	}
}

// The registry's certificate is watched over as those of the other listeners are.
func TestEndOfTheRegistrysCertificate(t *testing.T) {
	pair := certtest.NewCA(t, "ours").IssueLeaf(certtest.Leaf{Name: "registry.test", NotAfter: time.Now().Add(time.Hour)})
	certificate, key := pair.Write()
	yaml := fmt.Sprintf("eureka.server: {enabled: true, ssl: {certificate: %q, certificate-private-key: %q}}\n", certificate, key)
	g := newGateway(t, yaml)
	wantCertificates(t, g, map[string]string{"": "WILL_EXPIRE_SOON", "eureka.server.ssl": "WILL_EXPIRE_SOON"})
	wantSeries(t, g,
		`gozer_certificate_ends_timestamp_seconds{listener="registry",name="eureka.server.ssl"} `+strconv.FormatFloat(float64(pair.Cert.NotAfter.Unix()), 'g', -1, 64),
		`gozer_tls_client_hellos_total{listener="registry"} 0`)
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reload(t, g, yaml)
	wantCertificates(t, g, map[string]string{"": "FILES_UNUSABLE", "eureka.server.ssl": "FILES_UNUSABLE"})
}

// A registry alone follows its files too, and warns of what it shows to clients and peers.
func TestRegistryAloneFollowsItsCertificate(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	first, second := ca.Issue("registry.test"), ca.Issue("registry.test")
	certificate, key := first.Write()
	shownToPeers, keyForPeers := ca.Issue("peer").Write()
	opened := make(chan string, 1)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	var out strings.Builder
	go func() {
		done <- gozer.Execute(ctx, &out, &out, []string{
			"registry", "--config", file(t, "gateway.ssl.watch-interval: 10ms\n"),
			"--set", "eureka.server.ssl.certificate=" + certificate, "--set", "eureka.server.ssl.certificate-private-key=" + key,
			"--set", "eureka.client.tls.enabled=true", "--set", "eureka.client.tls.certificate=" + shownToPeers, "--set", "eureka.client.tls.certificate-private-key=" + keyForPeers,
		}, gozer.WithListen(anyPort(opened)))
	}()
	address := <-opened
	shown := func() string {
		d := &tls.Dialer{Config: &tls.Config{RootCAs: ca.Pool(), ServerName: "registry.test"}}
		conn, err := d.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String() //nolint:forcetypeassert // of its own dialer
	}
	if got := shown(); got != first.Cert.SerialNumber.String() {
		t.Errorf("shows %s", got)
	}
	second.Replace(certificate, key)
	for deadline := time.Now().Add(10 * time.Second); shown() != second.Cert.SerialNumber.String(); {
		if time.Now().After(deadline) {
			t.Fatal("the old certificate is still shown")
		}
	}
	stop()
	if code := <-done; code != 0 {
		t.Errorf("ended with %d: %s", code, &out)
	}
	for _, want := range []string{"for=registry name=eureka.server.ssl", "name=eureka.client.tls"} {
		wantPart(t, "log", out.String(), `level=WARN msg="certificate ends soon" `+want)
	}
}
