package registry_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/internal/testlog"
	"github.com/gozer-gateway/gozer/registry"
)

// node is a registry that runs on a network; its methods are what clients do.
type node struct {
	*registry.Registry
	tb     testing.TB
	addr   string
	client http.RoundTripper
	log    *testlog.Buffer

	stop    context.CancelFunc
	stopped chan struct{}
	server  *memhttp.Server
}

// immediate are default settings without a read-only cache.
func immediate(s *registry.Settings) { s.Cache.ReadOnly = false }

// eager switches self-preservation off too.
func eager(s *registry.Settings) {
	immediate(s)
	s.Leases.SelfPreservation = false
}

// start runs a lone registry until the end of the test.
func start(tb testing.TB, change ...func(*registry.Settings)) *node {
	tb.Helper()
	return startOn(tb, memhttp.NewNetwork(), "one.test:8761", change...)
}

// startOn runs a registry on a network; call it inside a bubble.
func startOn(tb testing.TB, network *memhttp.Network, addr string, change ...func(*registry.Settings)) *node {
	tb.Helper()
	n := &node{tb: tb, addr: addr, client: network.Transport(tb), log: new(testlog.Buffer), stopped: make(chan struct{})}
	host, port, _ := strings.Cut(addr, ":")
	s := registry.DefaultSettings()
	immediate(&s)
	s.Self = registry.Self{Hosts: []string{host}}
	_, _ = fmt.Sscan(port, &s.Self.Port)
	s.Transport = network.Transport(tb)
	s.Logger = slog.New(slog.NewTextHandler(n.log, nil))
	for _, c := range change {
		c(&s)
	}
	r, err := registry.New(s)
	if err != nil {
		tb.Fatal(err)
	}
	n.Registry = r
	ctx, stop := context.WithCancel(tb.Context())
	n.stop = stop
	go func() {
		defer close(n.stopped)
		r.Run(ctx)
	}()
	n.server = network.Serve(tb, addr, r.Handler())
	tb.Cleanup(n.kill)
	synctest.Wait() // until a registry that has nobody to ask has opened
	return n
}

// kill ends the registry as a crash does.
func (n *node) kill() {
	n.stop()
	<-n.stopped
	n.server.Close()
}

// reply is a response with its body read and unpacked.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request; headers are "Name: value".
func (n *node) do(method, path, body string, headers ...string) reply {
	n.tb.Helper()
	req, err := http.NewRequestWithContext(n.tb.Context(), method, "http://"+n.addr+path, strings.NewReader(body))
	if err != nil {
		n.tb.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "identity")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := n.client.RoundTrip(req)
	if err != nil {
		n.tb.Fatal(err)
	}
	defer res.Body.Close()
	var from io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		if from, err = gzip.NewReader(res.Body); err != nil {
			n.tb.Fatal(err)
		}
	}
	text, err := io.ReadAll(from)
	if err != nil {
		n.tb.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(text)}
}

const (
	asJSON     = "Accept: application/json"
	sendJSON   = "Content-Type: application/json"
	fromPeer   = "X-Netflix-Discovery-Replication: true"
	askCompact = "X-Eureka-Accept: compact"
)

// want checks a status.
func (n *node) want(status int, method, path, body string, headers ...string) reply {
	n.tb.Helper()
	got := n.do(method, path, body, headers...)
	if got.status != status {
		n.tb.Errorf("%s %s: %d %s, want %d", method, path, got.status, got.body, status)
	}
	return got
}

// instance is a valid one, "host:port" serving as id.
func instance(app, id string, change ...func(*eureka.Instance)) *eureka.Instance {
	host, _, _ := strings.Cut(id, ":")
	i := &eureka.Instance{
		ID: id, App: strings.ToUpper(app), HostName: host, IPAddr: "10.0.0.1", VIPAddress: app, Status: eureka.Up,
		Port: eureka.Port{Number: 80, Enabled: true}, SecurePort: eureka.Port{Number: 443},
		DataCenter: eureka.DataCenter{Name: eureka.MyOwn}, LastDirty: time.UnixMilli(100),
		Lease: eureka.Lease{RenewalInterval: 30 * time.Second, Duration: 90 * time.Second},
	}
	for _, c := range change {
		c(i)
	}
	return i
}

func status(s eureka.Status) func(*eureka.Instance) { return func(i *eureka.Instance) { i.Status = s } }

func dirty(millis int64) func(*eureka.Instance) {
	return func(i *eureka.Instance) { i.LastDirty = time.UnixMilli(millis) }
}

func lasting(d time.Duration) func(*eureka.Instance) {
	return func(i *eureka.Instance) { i.Lease.Duration = d }
}

func document(i *eureka.Instance) string {
	return string(eureka.Encoder{Format: eureka.JSON}.AppendInstance(nil, i))
}

// register posts an instance and wants it to be taken.
func (n *node) register(i *eureka.Instance, headers ...string) {
	n.tb.Helper()
	n.want(http.StatusNoContent, http.MethodPost, "/eureka/apps/"+i.App, document(i), append(headers, sendJSON)...)
}

// beat renews and gives the status of the answer.
func (n *node) beat(i *eureka.Instance, headers ...string) int {
	n.tb.Helper()
	path := fmt.Sprintf("/eureka/apps/%s/%s?status=%s&lastDirtyTimestamp=%d", i.App, i.ID, i.Status, i.LastDirty.UnixMilli())
	return n.do(http.MethodPut, path, "", headers...).status
}

// list reads a document of applications.
func (n *node) list(path string, headers ...string) *eureka.Applications {
	n.tb.Helper()
	got := n.want(http.StatusOK, http.MethodGet, path, "", append([]string{asJSON}, headers...)...)
	apps, err := eureka.Decoder{Format: eureka.JSON}.Applications(strings.NewReader(got.body))
	if err != nil {
		n.tb.Fatalf("%s: %v in %s", path, err, got.body)
	}
	return apps
}

// get reads one instance, nil when there is none.
func (n *node) get(app, id string) *eureka.Instance {
	n.tb.Helper()
	got := n.do(http.MethodGet, "/eureka/apps/"+app+"/"+id, "", asJSON)
	if got.status == http.StatusNotFound {
		return nil
	}
	i, err := eureka.Decoder{Format: eureka.JSON}.Instance(strings.NewReader(got.body))
	if err != nil {
		n.tb.Fatalf("%s: %v in %s", id, err, got.body)
	}
	return i
}

// wantStatus checks how an instance is shown.
func (n *node) wantStatus(i *eureka.Instance, want, override eureka.Status) {
	n.tb.Helper()
	got := n.get(i.App, i.ID)
	if got == nil {
		n.tb.Errorf("%s is not there, want it %s", i.ID, want)
		return
	}
	if got.Status != want || got.OverriddenStatus != override {
		n.tb.Errorf("%s is %s with override %s, want %s with %s", i.ID, got.Status, got.OverriddenStatus, want, override)
	}
}

// ids lists what there is as "APP/id STATUS", sorted.
func ids(apps *eureka.Applications) []string {
	var all []string
	for _, a := range apps.Applications {
		for _, i := range a.Instances {
			all = append(all, a.Name+"/"+i.Identity()+" "+i.Status.String())
		}
	}
	slices.Sort(all)
	return all
}

// actions lists what a delta says as "APP/id ACTION".
func actions(apps *eureka.Applications) []string {
	var all []string
	for _, a := range apps.Applications {
		for _, i := range a.Instances {
			all = append(all, a.Name+"/"+i.Identity()+" "+i.Action.String())
		}
	}
	return all
}

// leases is the state of self-preservation.
func (n *node) leases() registry.LeaseStatus { return n.Status().Leases }

// pass lets time go by and everything that happens in it happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func decodeJSON(tb testing.TB, text string, into any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
}
