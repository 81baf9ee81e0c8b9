package gozer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/registry"
)

// world is a network with a registry and a gateway that knows nothing but where it is.
type world struct {
	*memhttp.Network
	gateway  *gozer.Gateway
	settings func(*registry.Settings) // nil for those without a cache
	at       *running
	log      bytes.Buffer
	server   *memhttp.Server
	stop     func()

	mu    sync.Mutex // guards asked
	asked []string
}

// startRegistry runs the real registry at registry:8761.
func (w *world) startRegistry(t *testing.T) {
	t.Helper()
	s := registry.DefaultSettings()
	if w.settings == nil {
		w.settings = func(s *registry.Settings) { s.Cache.ReadOnly = false }
	}
	w.settings(&s)
	s.Logger = slog.New(slog.DiscardHandler)
	r, err := registry.New(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	handler := r.Handler()
	w.server = w.Serve(t, "registry:8761", http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet {
			w.mu.Lock()
			w.asked = append(w.asked, req.Method+" "+req.URL.EscapedPath()+" "+req.URL.Query().Get("value"))
			w.mu.Unlock()
		}
		handler.ServeHTTP(rw, req)
	}))
	w.stop = func() { cancel(); <-ended; w.server.Close() }
	synctest.Wait()
}

const withRegistry = "eureka.client.service-url.defaultZone: http://user:s3cret@registry:8761/eureka/\n"

// take gives what the registry was told since the last time.
func (w *world) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

// startGateway runs a gateway with the settings and the registry.
func (w *world) startGateway(t *testing.T, yaml string) {
	t.Helper()
	p := &place{network: w.Network}
	w.gateway = newGateway(t, withRegistry+"eureka.instance: {hostname: gw.test, ip-address: 192.0.2.7}\n"+yaml,
		p.listen(), gozer.WithRegistryDial(w.Dial), gozer.WithLogger(slog.New(slog.NewTextHandler(&w.log, nil))))
	w.at = run(t, w.gateway)
	synctest.Wait()
}

func (w *world) end(t *testing.T) {
	t.Helper()
	w.at.stop()
	if err := <-w.at.done; err != nil {
		t.Error(err)
	}
	if strings.Contains(w.log.String(), "s3cret") {
		t.Errorf("the password is in the log:\n%s", &w.log)
	}
}

// ask sends a request to the registry.
func (w *world) ask(t *testing.T, method, path string, body []byte) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://registry:8761/eureka/"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	rt := &http.Transport{DialContext: w.Dial, DisableKeepAlives: true}
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func (w *world) register(t *testing.T, i *eureka.Instance) {
	t.Helper()
	if i.IPAddr == "" {
		i.IPAddr = "192.0.2.1"
	}
	i.DataCenter.Name = eureka.MyOwn
	if status := w.ask(t, http.MethodPost, "apps/"+i.App, eureka.Encoder{}.AppendInstance(nil, i)); status != http.StatusNoContent {
		t.Errorf("registration of %s answered %d", i.App, status)
	}
}

func user(host string) *eureka.Instance {
	return &eureka.Instance{
		ID: host, App: "USERS", HostName: host, VIPAddress: "users,readers", Status: eureka.Up,
		Port: eureka.Port{Number: 8080, Enabled: true}, Metadata: map[string]string{"zone": "rack-a"},
	}
}

func TestOneKeyMakesServicesKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Network: memhttp.NewNetwork()}
		w.startRegistry(t)
		w.Serve(t, "u1:8080", says("one"))
		w.register(t, user("u1"))
		w.startGateway(t, "spring.application.name: Edge\nzuul.routes.readers: /readers/**\n")
		defer w.end(t)
		after(time.Second)
		wantAnswer(t, get(t, w.gateway.Management(), "/actuator/routes"), http.StatusOK, `{"/readers/**":"readers","/users/**":"users"}`)
		server := w.gateway.Servers("users")
		if len(server) != 1 || server[0].HostPort() != "u1:8080" || server[0].Zone != "rack-a" || server[0].ID != "u1" || server[0].Metadata["zone"] != "rack-a" {
			t.Errorf("servers %+v", server)
		}
		if byVIP := w.gateway.Servers("readers"); len(byVIP) != 1 || byVIP[0].HostPort() != "u1:8080" {
			t.Errorf("servers of the virtual address %+v", byVIP)
		}

		t.Log("the gateway has registered")
		if status := w.ask(t, http.MethodGet, "apps/EDGE/gw.test:Edge:8080", nil); status != http.StatusOK {
			t.Errorf("its instance answers %d; asked %q", status, w.take())
		}

		t.Log("a change is pushed")
		after(2 * time.Second)
		w.register(t, user("u2"))
		after(100 * time.Millisecond)
		if server := w.gateway.Servers("users"); len(server) != 2 {
			t.Errorf("servers %+v", server)
		}
		if got := get(t, w.gateway.Management(), "/actuator/health").Body.String(); !strings.Contains(got, `"eureka":{"status":"UP","details":{"age":"0s","applications":2,`) {
			t.Errorf("health %s", got)
		}
	})
}

func TestNoKeyStartsNothing(t *testing.T) {
	for _, yaml := range []string{
		"server.port: 8080\n",
		"eureka.client.enabled: false\n" + withRegistry,
		"eureka.client: {fetch-registry: false, register-with-eureka: false}\n" + withRegistry,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &place{network: memhttp.NewNetwork()}
			dialled := 0
			g := newGateway(t, yaml, p.listen(), gozer.WithRegistryDial(func(ctx context.Context, network, address string) (net.Conn, error) {
				dialled++
				return p.network.Dial(ctx, network, address)
			}))
			r := run(t, g)
			after(5 * time.Minute)
			r.stop()
			if err := <-r.done; err != nil || dialled != 0 {
				t.Errorf("%d connections, %v with\n%s", dialled, err, yaml)
			}
			if got := get(t, g.Management(), "/actuator/health").Body.String(); strings.Contains(got, "eureka") {
				t.Error(got)
			}
		})
	}
}

func TestRegistryDownDoesNotDelayTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Network: memhttp.NewNetwork()}
		w.Serve(t, "static:80", says("static"))
		w.startGateway(t, "zuul.routes: {static: '/static/**=http://static', users: /users/**}\n")
		defer w.end(t)
		if got := ask(t, w.gateway, http.MethodGet, "/users/1"); got.Code != http.StatusServiceUnavailable {
			t.Errorf("C174: without a list a service answers %d", got.Code)
		}
		if got := get(t, w.gateway.Management(), "/actuator/health").Body.String(); !strings.Contains(got, `"eureka":{"status":"UNKNOWN"`) {
			t.Errorf("C174: health %s", got)
		}
		after(5 * time.Second)
		w.startRegistry(t)
		w.register(t, user("u1"))
		after(time.Minute)
		if server := w.gateway.Servers("users"); len(server) != 1 {
			t.Errorf("servers %+v", server)
		}
		if status := w.ask(t, http.MethodGet, "apps/UNKNOWN/gw.test:unknown:8080", nil); status != http.StatusOK {
			t.Errorf("the gateway has not registered: %d, %q", status, w.take())
		}

		t.Log("later the registry goes, the list stays")
		w.stop()
		after(10 * time.Minute)
		if server := w.gateway.Servers("users"); len(server) != 1 {
			t.Errorf("servers %+v", server)
		}
	})
}

// C227: the component tells of a registry that was never reached, of one that is gone, with
// the age of the list, and recovers by itself.
func TestHealthTellsOfADeadRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Network: memhttp.NewNetwork()}
		w.startGateway(t, "zuul.routes.users: /users/**\n")
		defer w.end(t)
		health := func() (status, age, trouble string) {
			var all struct {
				Status     string
				Components struct {
					Eureka struct {
						Status  string
						Details struct{ Age, Error string }
					}
				}
			}
			answer := get(t, w.gateway.Management(), "/actuator/health")
			if err := json.Unmarshal(answer.Body.Bytes(), &all); err != nil || answer.Code != http.StatusOK || all.Status != "UP" {
				t.Errorf("%d %s (%v)", answer.Code, answer.Body, err)
			}
			part := all.Components.Eureka
			return part.Status, part.Details.Age, part.Details.Error
		}
		// never reached
		after(10 * time.Minute)
		if status, age, trouble := health(); status != "UNKNOWN" || age != "" || trouble == "" {
			t.Errorf("%s, age %q, error %q", status, age, trouble)
		}
		wantSeries(t, w.gateway, "gozer_discovery_fetched 0", "gozer_discovery_failing 1")
		// reached
		w.startRegistry(t)
		after(10 * time.Minute)
		if status, age, trouble := health(); status != "UP" || age == "" || trouble != "" {
			t.Errorf("%s, age %q, error %q", status, age, trouble)
		}
		wantSeries(t, w.gateway, "gozer_discovery_fetched 1", "gozer_discovery_failing 0")
		// down for thirty intervals
		w.stop()
		after(30 * 30 * time.Second)
		status, age, trouble := health()
		if old, err := time.ParseDuration(age); status != "STALE" || err != nil || old < 14*time.Minute || trouble == "" {
			t.Errorf("%s, age %q, error %q", status, age, trouble)
		}
		if line := seriesOf(t, w.gateway, "gozer_discovery_age_seconds "); len(line) < len("gozer_discovery_age_seconds 840") {
			t.Error(line)
		}
		// recovers by itself
		w.startRegistry(t)
		after(10 * time.Minute)
		if status, _, trouble := health(); status != "UP" || trouble != "" {
			t.Errorf("%s, error %q", status, trouble)
		}
		w.stop()
	})
}

// seriesOf is the first line that begins so.
func seriesOf(t *testing.T, g *gozer.Gateway, name string) string {
	t.Helper()
	for _, line := range scraped(t, g) {
		if strings.HasPrefix(line, name) {
			return line
		}
	}
	return ""
}

// The registry hears that the gateway goes out of service before it stops accepting,
// and of its end after that.
func TestGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Network: memhttp.NewNetwork()}
		w.startRegistry(t)
		w.startGateway(t, "gateway.shutdown.wait: 5s\nspring.application.name: edge\n")
		after(time.Second)
		w.take()
		w.at.stop()
		after(time.Second)
		if diff := cmp.Diff([]string{"PUT /eureka/apps/EDGE/gw.test:edge:8080/status OUT_OF_SERVICE"}, w.take()); diff != "" {
			t.Error(diff)
		}
		if conn, err := w.Dial(t.Context(), "", ":8080"); err != nil {
			t.Error("no longer accepting", err)
		} else {
			_ = conn.Close()
		}
		after(10 * time.Second)
		w.end(t)
		if diff := cmp.Diff("DELETE /eureka/apps/EDGE/gw.test:edge:8080 ", strings.Join(w.take(), "\n")); diff != "" {
			t.Error(diff)
		}
		if status := w.ask(t, http.MethodGet, "apps/EDGE", nil); status != http.StatusNotFound {
			t.Errorf("the gateway is still registered: %d", status)
		}
	})
}

func TestIsSecureFalseTakesThePlainPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Network: memhttp.NewNetwork()}
		w.startRegistry(t)
		i := user("u1")
		i.SecurePort = eureka.Port{Number: 8443, Enabled: true}
		w.register(t, i)
		i = user("b1")
		i.App, i.VIPAddress, i.SecurePort = "BOOKS", "books", eureka.Port{Number: 8443, Enabled: true}
		w.register(t, i)
		w.startGateway(t, "users.ribbon.IsSecure: false\n")
		defer w.end(t)
		after(time.Second)
		if s := w.gateway.Servers("users"); len(s) != 1 || s[0].Port != 8080 || s[0].Secure {
			t.Errorf("users: %+v", s)
		}
		if s := w.gateway.Servers("books"); len(s) != 1 || s[0].Port != 8443 || !s[0].Secure {
			t.Errorf("books: %+v", s)
		}
	})
}

func TestOwnInstance(t *testing.T) {
	const named = "spring.application.name: My-Edge\neureka.instance: {hostname: h, ip-address: 10.0.0.1}\nmanagement.server.address: ''\n"
	type edit = func(*eureka.Instance)
	for name, row := range map[string]struct {
		yaml string
		want edit
	}{
		"eureka 123 125 by name, host and ports": {named, func(*eureka.Instance) {}},
		"eureka 123 without a name": {"eureka.instance: {hostname: h, ip-address: 10.0.0.1}\nmanagement.server.address: ''\n", func(i *eureka.Instance) {
			i.ID, i.App, i.VIPAddress, i.SecureVIPAddress = "h:unknown:8080", "UNKNOWN", "unknown", "unknown"
		}},
		"eureka 122 the address as host": {named + "---\neureka.instance.prefer-ip-address: true\n", func(i *eureka.Instance) {
			i.ID, i.HostName = "10.0.0.1:My-Edge:8080", "10.0.0.1"
			i.HomePageURL, i.StatusPageURL, i.HealthCheckURL = "http://10.0.0.1:8080/", "http://10.0.0.1:8081/actuator/info", "http://10.0.0.1:8081/actuator/health"
		}},
		"eureka 124 id by metadata": {named + "---\neureka.instance.metadata-map.instanceId: foo\n", func(i *eureka.Instance) {
			i.ID, i.Metadata["instanceId"] = "foo", "foo"
		}},
		"eureka 124 id by setting": {named + "---\neureka.instance: {metadata-map.instanceId: foo, instance-id: '${spring.application.name}@${server.port}'}\n", func(i *eureka.Instance) {
			i.ID, i.Metadata["instanceId"] = "My-Edge@8080", "foo"
		}},
		"eureka 125 another base path": {named + "---\nmanagement.endpoints.web.base-path: /Management\n", func(i *eureka.Instance) {
			i.StatusPageURL, i.HealthCheckURL = "http://h:8081/Management/info", "http://h:8081/Management/health"
		}},
		"eureka 125 pages that nobody could open": {named + "---\nmanagement.server.address: 127.0.0.1\n", func(i *eureka.Instance) {
			i.StatusPageURL, i.HealthCheckURL = "", ""
			delete(i.Metadata, "management.port")
		}},
		"eureka 128 pages by setting": {named + "---\neureka.instance: {home-page-url: http://x/, status-page-url: http://y/, health-check-url: http://z/, secure-health-check-url: https://z/}\n", func(i *eureka.Instance) {
			i.HomePageURL, i.StatusPageURL, i.HealthCheckURL, i.SecureHealthCheckURL = "http://x/", "http://y/", "http://z/", "https://z/"
		}},
		"everything else": {
			named + "---\neureka.instance:\n  appname: gate\n  app-group-name: edge\n  virtual-host-name: v\n  secure-virtual-host-name: s\n  non-secure-port: 80\n  secure-port: 8443\n  secure-port-enabled: true\n" +
				"  lease-renewal-interval-in-seconds: 5\n  lease-expiration-duration-in-seconds: 15s\n  aSGName: asg\n  initial-status: starting\n  metadata-map:\n    zone: z\n    management.port: 1\n    Some: {Key: v}\n",
			func(i *eureka.Instance) {
				i.ID, i.App, i.AppGroup, i.VIPAddress, i.SecureVIPAddress = "h:gate:80", "GATE", "EDGE", "v", "s"
				i.Port.Number, i.SecurePort = 80, eureka.Port{Number: 8443, Enabled: true}
				i.Lease = eureka.Lease{RenewalInterval: 5 * time.Second, Duration: 15 * time.Second}
				i.ASGName, i.Status, i.HomePageURL = "asg", eureka.Starting, "http://h:80/"
				i.Metadata = map[string]string{"zone": "z", "management.port": "1", "Some.Key": "v"}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := &eureka.Instance{
				ID: "h:My-Edge:8080", App: "MY-EDGE", HostName: "h", IPAddr: "10.0.0.1", VIPAddress: "My-Edge", SecureVIPAddress: "My-Edge",
				Port: eureka.Port{Number: 8080, Enabled: true}, SecurePort: eureka.Port{Number: 443}, CountryID: 1, DataCenter: eureka.DataCenter{Name: "MyOwn"},
				Lease:       eureka.Lease{RenewalInterval: 30 * time.Second, Duration: 90 * time.Second},
				HomePageURL: "http://h:8080/", StatusPageURL: "http://h:8081/actuator/info", HealthCheckURL: "http://h:8081/actuator/health",
				Metadata: map[string]string{"management.port": "8081"}, Status: eureka.Up,
			}
			row.want(want)
			if diff := cmp.Diff(want, gozer.OwnInstance(parse(t, row.yaml), 8080, 8081)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOwnInstanceOfThisMachine(t *testing.T) {
	i := gozer.OwnInstance(parse(t, withRegistry), 8080, 0)
	if i.HostName == "" || i.IPAddr == "" || i.HealthCheckURL != "" {
		t.Errorf("%+v", i)
	}
}

// Whatever the client is for, what is wrong with its files is told by key and place, once. The
// last line of each row is to blame.
func TestRegistryCertificatesThatAreNone(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	certificate, key := ca.Issue("edge").Write()
	_, other := ca.Issue("edge").Write()
	broken := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(broken, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	const tls = "eureka.client.tls."
	for name, row := range map[string]struct {
		lines []string
		why   string
	}{
		"authorities":       {[]string{tls + "trust-certificate: " + broken}, "there is no certificate in PEM form in it"},
		"certificate":       {[]string{tls + "certificate-private-key: " + key, tls + "certificate: /nowhere.pem"}, "no such file"},
		"key":               {[]string{tls + "certificate: " + certificate, tls + "certificate-private-key: " + other}, "private key does not match"},
		"no key":            {[]string{tls + "certificate: " + certificate}, "no file is named for its private key"},
		"key alone":         {[]string{tls + "certificate-private-key: " + key}, "no file is named for its certificate"},
		"of a registration": {[]string{"eureka.client.fetch-registry: false", tls + "trust-certificate: " + broken}, "there is no certificate"},
		"of peers":          {[]string{"eureka: {server.enabled: true, client.enabled: false}", tls + "trust-certificate: " + broken}, "there is no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := append([]string{tls + "enabled: true"}, row.lines...)
			want := fmt.Sprintf("gateway.yaml:%d: error: %s: %s", len(lines), lines[len(lines)-1], row.why)
			cfg, report := config.Parse("gateway.yaml", []byte(strings.Join(lines, "\n")), config.Options{})
			gozer.Validate(cfg, report)
			_, err := gozer.New(cfg)
			if err == nil {
				t.Fatal("the gateway starts")
			}
			for _, got := range []string{report.String(), err.Error()} {
				if !strings.Contains(got, want) || strings.Count(got, "error:") != 1 {
					t.Errorf("%s\nwant %s", got, want)
				}
			}
		})
	}
}

// The gateway makes no route to itself.
func TestOwnServiceIsNotRouted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Network: memhttp.NewNetwork()}
		w.startRegistry(t)
		w.startGateway(t, "spring.application.name: edge\neureka.instance.appname: Front-Door\n")
		defer w.end(t)
		after(35 * time.Second)
		wantAnswer(t, get(t, w.gateway.Management(), "/actuator/routes"), http.StatusOK, `{}`)
		if len(w.gateway.Servers("front-door")) != 1 {
			t.Error("the gateway does not see itself")
		}
	})
}
