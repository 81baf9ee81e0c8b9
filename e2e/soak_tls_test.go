package e2e_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

// renewed is a mounted certificate that two authorities issue in turn.
type renewed struct {
	by      [2]*certtest.CA
	mounted *swap
	last    *certtest.Pair
	turn    int
}

func newRenewed(t *testing.T) *renewed {
	t.Helper()
	r := &renewed{by: [2]*certtest.CA{certtest.NewCA(t, "First CA"), certtest.NewCA(t, "Second CA")}}
	r.last = r.by[0].Issue("g.test")
	r.mounted = newSwap(t, r.last)
	return r
}

// next puts the other authority's certificate in place.
func (r *renewed) next() {
	r.turn++
	r.last = r.by[r.turn%2].Issue("g.test")
	r.mounted.To(r.last)
}

// trusting believes both authorities.
func (r *renewed) trusting() *tls.Config {
	pool := r.by[0].Pool()
	pool.AddCert(r.by[1].Cert)
	return &tls.Config{RootCAs: pool, ServerName: "g.test"} //nolint:gosec // the default version is good
}

// yaml is soakConfig over TLS and HTTP/2, with a gRPC server.
func (r *renewed) yaml(b *backendtest.Backend, up *greeter, i int) string {
	cert, key := r.mounted.files()
	return soakConfig(b, i) + withH2 + fmt.Sprintf(`gateway.ssl.watch-interval: 50ms
server.ssl: {certificate: %s, certificate-private-key: %s}
zuul.routes.greeter: {path: /greeter/**, strip-prefix: false}
greeter.ribbon: {listOfServers: "%s", ReadTimeout: 20000}
gateway.upstream.greeter.protocol: h2c
`, cert, key, up.addr)
}

// secureClient speaks HTTP/1.1 over TLS, or HTTP/2 where the gateway offers it.
func secureClient(tb testing.TB, config *tls.Config, transport *http.Transport) *http.Client {
	tb.Helper()
	client := newClient(tb)
	transport.TLSClientConfig, transport.MaxIdleConnsPerHost, transport.DisableCompression = config, 64, true
	tb.Cleanup(transport.CloseIdleConnections)
	client.Transport = transport
	return client
}

// secureWebSocket is webSocket over TLS.
func (s *streams) secureWebSocket(g *gateway, config *tls.Config, target string) {
	c, err := g.dialTLS(config)
	if err != nil {
		s.tb.Fatal(err)
	}
	write(s.tb, c, lines("GET "+target+" HTTP/1.1", "Host: g.test", "Connection: Upgrade", "Upgrade: websocket"))
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		s.tb.Fatalf("%v, %v", res, err)
	}
	s.tb.Cleanup(func() { _ = res.Body.Close() })
	s.letters(target, c, r)
}

// conversation is a call that goes back and forth.
func (s *streams) conversation(t *testing.T, up *greeter, proxy string, config *tls.Config) {
	t.Helper()
	c, err := grpc.NewClient("passthrough:///"+proxy, grpc.WithTransportCredentials(credentials.NewTLS(config)), grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	call := talk(s.ctx, t, c)
	s.start("gRPC", func(progress *atomic.Int64) error {
		defer c.Close()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for i := 0; s.ctx.Err() == nil; i++ {
			message := fmt.Sprint("message ", i)
			if got, err := converse(call, message); err != nil || got != up.addr+" "+message {
				return fmt.Errorf("%q came back as %q: %w", message, got, err)
			}
			progress.Add(1)
			<-tick.C
		}
		return nil
	})
}

// The same as TestSoakReload over TLS, with a certificate that is replaced at every turn, by that of another
// authority: every new handshake gets the new one, and nothing is cut.
func TestSoakReloadOverTLS(t *testing.T) {
	t.Parallel()
	b, up, r := backendtest.Start(t, soaked()), startGreeter(t), newRenewed(t)
	g := startGateway(t, r.yaml(b, up, 0))
	s := openStreams(t)
	config := r.trusting()
	https := func(target string) string { return "https://" + g.Proxy + target }
	events := secureClient(t, config.Clone(), &http.Transport{})
	events.Timeout = 0
	routes := []string{"/steady", "/moving", "/url"}
	for i := range 50 {
		s.secureWebSocket(g, config.Clone(), routes[i%3]+"/ws")
		s.events(events, https(routes[i%3]+"/sse"))
	}
	s.conversation(t, up, g.Proxy, config.Clone())
	resuming := config.Clone()
	resuming.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	var loads []*load
	for route, transport := range map[string]*http.Transport{
		"/steady": {},
		"/moving": {ForceAttemptHTTP2: true},
		"/url":    {DisableKeepAlives: true}, // a handshake for each request
	} {
		loads = append(loads, startLoadBy(t, secureClient(t, resuming.Clone(), transport), https(route+"/x"), http.MethodGet, http.MethodPost))
	}

	yaml := func(i int) string { return r.yaml(b, up, i) }
	length := soakTime(t)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	last, early, waits := 0, int64(0), []time.Duration(nil)
	for begin := time.Now(); time.Since(begin) < length; {
		<-tick.C
		last++
		r.next()
		replaced := time.Now()
		g.soakTurn(yaml, last)
		eventually(t, "a new handshake gets the new certificate", func() bool { return g.shown(config) == serialOf(r.last) })
		waits = append(waits, time.Since(replaced))
		if early == 0 && time.Since(begin) > length/5 {
			early = g.memory("VmRSS")
		}
	}
	marked := yaml(last+1) + "zuul.routes.last: {path: /last/**, url: \"http://" + b.Addr + "\"}\n"
	g.Write(marked)
	eventually(t, "the last configuration is in force", func() bool {
		a, err := g.getTLS(config, "g.test")
		return err == nil && a.Status == http.StatusNotFound && strings.Contains(g.Log.String(), "+last")
	})
	s.advance()
	late := g.memory("VmRSS")

	var requests int64
	for _, l := range loads {
		requests += l.Stop()
		l.client.CloseIdleConnections()
	}
	exchanges := s.close()
	slices.Sort(waits)
	t.Logf("%d turns, %s reloads, %s refused, %d certificates, shown after %s in the median and %s at the most; %d requests; %d exchanges on %d streams, %d cut; RSS %d KB early, %d KB late",
		last, g.metric("gateway.reloads?tag=outcome:success"), g.metric("gateway.reloads?tag=outcome:failure"), r.turn+1,
		waits[len(waits)/2].Round(time.Millisecond), waits[len(waits)-1].Round(time.Millisecond),
		requests, exchanges, len(s.progress), len(s.cut()), early>>10, late>>10)
	wantFlat(t, early, late)
	events.CloseIdleConnections()
	b.Crash()
	up.server.Stop()
	g.wantNoLeak(marked)
}
