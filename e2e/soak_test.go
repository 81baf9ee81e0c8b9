package e2e_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// soakVariable is the environment variable that tells how long a soak test lasts, such as
// 1m.
const soakVariable = "SOAK"

func soakTime(tb testing.TB) time.Duration {
	tb.Helper()
	text := os.Getenv(soakVariable)
	if text == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// soaked is the upstream: WebSockets below /ws, events below /sse, identify elsewhere.
func soaked() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/ws", switching())
	mux.HandleFunc("/sse", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	})
	mux.Handle("/", identify())
	return mux
}

// soakConfig has a service that stays as it is and one whose timeouts, connections and
// rules change with every reload, as those of URL routes do.
func soakConfig(b *backendtest.Backend, i int) string {
	rules := []string{"RoundRobinRule", "RandomRule", "BestAvailableRule"}
	return fmt.Sprintf(`gateway.reload: {delay: 20ms, poll-interval: 1s}
zuul:
  host: {socket-timeout-millis: %[2]d, max-per-route-connections: %[3]d}
  routes:
    steady: /steady/**
    moving: /moving/**
    url: {path: /url/**, url: "http://%[1]s"}
    r%[4]d: {path: /r%[4]d/**, url: "forward:/nowhere"}
steady.ribbon: {listOfServers: "%[1]s", ReadTimeout: 20000}
moving.ribbon: {listOfServers: "%[1]s", ReadTimeout: %[2]d, MaxConnectionsPerHost: %[3]d, NFLoadBalancerRuleClassName: %[5]s}
hystrix.command.moving.circuitBreaker.requestVolumeThreshold: %[3]d
s%[4]d.ribbon.listOfServers: %[1]s
`, b.Addr, 20_000+i%5, 200+i%3, i, rules[i%len(rules)])
}

// streams are connections on which something goes back and forth all the time.
type streams struct {
	tb       testing.TB
	ctx      context.Context //nolint:containedctx // ends them all
	stop     context.CancelFunc
	running  sync.WaitGroup
	progress []*atomic.Int64 // of each

	mu   sync.Mutex
	cuts []string // guarded by mu
}

func openStreams(tb testing.TB) *streams {
	tb.Helper()
	s := &streams{tb: tb}
	s.ctx, s.stop = context.WithCancel(tb.Context())
	tb.Cleanup(func() { s.close() })
	return s
}

// start runs a stream until it is cut or all are to end.
func (s *streams) start(name string, run func(progress *atomic.Int64) error) {
	n := &atomic.Int64{}
	s.progress = append(s.progress, n)
	s.running.Go(func() {
		if err := run(n); s.ctx.Err() == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.cuts = append(s.cuts, fmt.Sprintf("%s after %d exchanges: %v", name, n.Load(), err))
		}
	})
}

// advance waits until every stream has got further.
func (s *streams) advance() {
	s.tb.Helper()
	for _, p := range s.progress {
		before := p.Load()
		eventually(s.tb, "all streams go on", func() bool { return p.Load() > before || len(s.cut()) > 0 })
	}
}

func (s *streams) cut() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cuts
}

// close ends the streams and fails the test if one of them was cut before.
func (s *streams) close() (exchanges int64) {
	s.stop()
	s.running.Wait()
	if cuts := s.cut(); len(cuts) > 0 {
		s.tb.Errorf("%d streams were cut, the first: %s", len(cuts), strings.Join(cuts[:min(3, len(cuts))], "\n"))
	}
	for _, p := range s.progress {
		exchanges += p.Load()
	}
	return exchanges
}

// webSocket sends a letter after the other and wants each back.
func (s *streams) webSocket(g *gateway, target string) {
	u := g.upgrade(target, "Connection: Upgrade", "Upgrade: websocket")
	if u.response.StatusCode != http.StatusSwitchingProtocols {
		s.tb.Fatalf("status %d", u.response.StatusCode)
	}
	s.letters(target, u.conn, u.reader)
}

func (s *streams) letters(name string, conn net.Conn, r *bufio.Reader) {
	s.start(name, func(progress *atomic.Int64) error {
		defer conn.Close()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for i := 0; s.ctx.Err() == nil; i++ {
			letter := string(rune('a' + i%26))
			if err := errors.Join(conn.SetDeadline(time.Now().Add(patience)), send1(conn, letter)); err != nil {
				return err
			}
			if b, err := r.ReadByte(); err != nil || string(b) != strings.ToUpper(letter) {
				return fmt.Errorf("%q came back as %q: %w", letter, b, err)
			}
			progress.Add(1)
			<-tick.C
		}
		return nil
	})
}

func send1(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// events reads numbers and wants each to be the next.
func (s *streams) events(client *http.Client, url string) {
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		s.tb.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.start(url, func(progress *atomic.Int64) error {
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		for i := 0; lines.Scan(); {
			if lines.Text() == "" {
				continue
			}
			if want := "data: " + strconv.Itoa(i); lines.Text() != want {
				return fmt.Errorf("%q instead of %q", lines.Text(), want)
			}
			i++
			progress.Add(1)
		}
		return errors.Join(lines.Err(), io.ErrUnexpectedEOF)
	})
}

// C201: reloads every 200 ms, by file, signal and endpoint in turn and some of them refused, under
// load and with 50 WebSockets and 50 event streams open.
func TestSoakReload(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, soaked())
	g := startGateway(t, soakConfig(b, 0))
	s := openStreams(t)
	client := newClient(t)
	client.Timeout = 0
	routes := []string{"/steady", "/moving", "/url"}
	for i := range 50 {
		s.webSocket(g, routes[i%3]+"/ws")
		s.events(client, g.URL(routes[i%3]+"/sse"))
	}
	var loads []*load
	for _, route := range routes {
		loads = append(loads, startLoad(t, g.URL(route+"/x"), http.MethodGet, http.MethodPost))
	}

	yaml := func(i int) string { return soakConfig(b, i) }
	length := soakTime(t)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	last, early, late := 0, int64(0), int64(0)
	for begin := time.Now(); time.Since(begin) < length; {
		<-tick.C
		last++
		g.soakTurn(yaml, last)
		if early == 0 && time.Since(begin) > length/5 {
			early = g.memory("VmRSS")
		}
	}
	marked := yaml(last+1) + "zuul.routes.last: {path: /last/**, url: \"http://" + b.Addr + "\"}\n"
	g.Write(marked)
	eventually(t, "the last configuration is in force", func() bool { return g.Get("/last/x", "X-Id: last").Status == http.StatusOK })
	s.advance()
	late = g.memory("VmRSS")

	var requests int64
	for _, l := range loads {
		requests += l.Stop()
		l.client.CloseIdleConnections()
	}
	exchanges := s.close()
	t.Logf("%d turns, %s reloads, %s refused; %d requests; %d exchanges on %d streams, %d cut; RSS %d KB early, %d KB late",
		last, g.metric("gateway.reloads?tag=outcome:success"), g.metric("gateway.reloads?tag=outcome:failure"), requests, exchanges, len(s.progress), len(s.cut()), early>>10, late>>10)
	wantFlat(t, early, late)
	client.CloseIdleConnections()
	b.Crash() // idle connections with it
	g.wantNoLeak(marked)
}

// wantFlat fails the test if the memory has grown.
func wantFlat(tb testing.TB, early, late int64) {
	tb.Helper()
	if late > early+early/4+8<<20 && !race.Enabled {
		tb.Errorf("the memory has grown from %d to %d KB", early>>10, late>>10)
	}
}

// soakTurn changes the configuration in one of four ways.
func (g *gateway) soakTurn(yaml func(int) string, i int) {
	g.tb.Helper()
	switch i % 4 {
	case 0:
		g.Write("zuul.rutes: " + strconv.Itoa(i) + "\n")
	case 1:
		g.Write(yaml(i))
	case 2:
		g.Write(yaml(i))
		g.Signal(syscall.SIGHUP)
	case 3:
		g.Write(yaml(i))
		a, err := send(g.tb.Context(), http.MethodPost, g.AdminURL("/actuator/refresh"), nil, nil)
		if err != nil || a.Status != http.StatusOK {
			g.tb.Errorf("refresh: %+v, %v", a, err)
		}
	}
}
