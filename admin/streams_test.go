package admin_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

var streaming = admin.Settings{
	BasePath: "/actuator", Include: []string{"*"},
	Stream: admin.StreamSettings{MaxReaders: 5, Dashboard: 500 * time.Millisecond, Config: 5 * time.Second, Utilization: 500 * time.Millisecond},
}

// station serves streams on a network in memory.
type station struct {
	*testing.T

	gateway *gateway
	network *memhttp.Network
}

func atStation(t *testing.T, name string, play func(s *station)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &station{t, &gateway{commands: commands{
				snapshots: []ribboncmd.Snapshot{{Service: "users", Group: "RibbonCommand"}},
				pools:     []ribboncmd.PoolSnapshot{{Key: "unused"}, {Key: "maps", Completed: 1}},
			}}, memhttp.NewNetwork()}
			s.network.Serve(t, "admin:80", admin.New(streaming, s.gateway))
			play(s)
		})
	})
}

// reader is one client of a stream.
type reader struct {
	*http.Response

	lines *bufio.Scanner
	leave context.CancelFunc
}

func (s *station) open(path string) *reader {
	s.Helper()
	ctx, leave := context.WithCancel(s.Context())
	s.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://admin:80"+path, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	res, err := (&http.Transport{DialContext: s.network.Dial, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = res.Body.Close() })
	return &reader{res, bufio.NewScanner(res.Body), leave}
}

// block reads one message or ping and checks that an empty line follows.
func (r *reader) block(tb testing.TB) string {
	tb.Helper()
	if !r.lines.Scan() {
		tb.Fatalf("the stream has ended: %v", r.lines.Err())
	}
	line := r.lines.Text()
	if !r.lines.Scan() || r.lines.Text() != "" {
		tb.Fatalf("%q is followed by %q", line, r.lines.Text())
	}
	return line
}

func (r *reader) want(tb testing.TB, starts ...string) {
	tb.Helper()
	for _, start := range starts {
		if got := r.block(tb); !strings.HasPrefix(got, start) {
			tb.Fatalf("got %.120q, want %q", got, start)
		}
	}
}

const (
	aCommand = `data: {"type":"HystrixCommand","name":"users"`
	aPool    = `data: {"type":"HystrixThreadPool","name":"maps"`
	aPing    = "ping: "
)

func TestStream(t *testing.T) {
	for _, path := range []string{"/hystrix.stream", "/actuator/hystrix.stream"} {
		atStation(t, path, func(s *station) {
			r := s.open(path)
			h := r.Header
			if r.StatusCode != http.StatusOK || h.Get("Content-Type") != "text/event-stream;charset=UTF-8" ||
				h.Get("Cache-Control") != "no-cache, no-store, max-age=0, must-revalidate" || h.Get("Pragma") != "no-cache" {
				t.Errorf("%d %v", r.StatusCode, h)
			}
			r.want(t, aCommand, aPool)
			seen := map[string]int{}
			begin := time.Now()
			for time.Since(begin) < 10*time.Second {
				line := r.block(t)
				for _, kind := range []string{aCommand, aPool, aPing} {
					if strings.HasPrefix(line, kind) {
						seen[kind]++
					}
				}
			}
			for kind, n := range seen {
				if len(seen) != 3 || n < 19 || n > 21 {
					t.Errorf("%d of %s in ten seconds, every 500 ms", n, kind)
				}
			}
		})
	}
	atStation(t, "nothing known: pings only", func(s *station) {
		s.gateway.commands = commands{}
		s.open("/hystrix.stream").want(t, aPing, aPing, aPing)
	})
	atStation(t, "delay", func(s *station) {
		for query, want := range map[string]int{"delay=2000": 5, "delay=10": 100, "delay=-1": 100, "delay=soon": 20, "delay=99999999999999999999": 0, "": 20} {
			r := s.open("/hystrix.stream?" + query)
			r.want(t, aCommand, aPool)
			begin, n := time.Now(), 0
			for time.Since(begin) < 10*time.Second {
				if strings.HasPrefix(r.block(t), aCommand) {
					n++
				}
			}
			if n < want-1 || n > want+1 {
				t.Errorf("%q: %d rounds in ten seconds, want %d", query, n, want)
			}
			r.leave()
			synctest.Wait()
		}
	})
	atStation(t, "settings and utilization", func(s *station) {
		s.open("/hystrix/config.stream").want(t, `data: {"type":"HystrixConfig","commands":{"users":`)
		s.open("/hystrix/utilization.stream").want(t, `data: {"type":"HystrixUtilization","commands":{"users":`)
	})
}

func TestStreamReaders(t *testing.T) {
	atStation(t, "hystrix 113 Q18 sixth reader, a place each stream", func(s *station) {
		var readers []*reader
		for range 5 {
			r := s.open("/hystrix.stream")
			r.want(t, aCommand)
			readers = append(readers, r)
		}
		if r := s.open("/actuator/hystrix.stream"); r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the sixth gets %d", r.StatusCode)
		}
		s.open("/hystrix/config.stream").want(t, `data: {"type":"HystrixConfig"`)
		readers[0].leave()
		<-time.After(time.Second)
		s.open("/hystrix.stream").want(t, aCommand)
	})
	atStation(t, "hystrix 113 draining", func(s *station) {
		s.gateway.draining = true
		r := s.open("/hystrix.stream")
		body, _ := io.ReadAll(r.Body)
		if r.StatusCode != http.StatusServiceUnavailable || string(body) != "The gateway is not serving" {
			t.Errorf("%d %s", r.StatusCode, body)
		}
	})
	atStation(t, "slow reader is dropped", func(s *station) {
		for range 5 {
			s.open("/hystrix.stream") // and takes nothing
		}
		<-time.After(time.Minute)
		s.open("/hystrix.stream").want(t, aCommand)
	})
	atStation(t, "hystrix 114 messages and pings do not mix", func(s *station) {
		var all []ribboncmd.Snapshot
		for range 200 {
			all = append(all, ribboncmd.Snapshot{Service: "users"})
		}
		s.gateway.commands = commands{snapshots: all}
		r := s.open("/hystrix.stream?delay=100")
		for range 3000 {
			line := r.block(t)
			if line != aPing && (!strings.HasPrefix(line, aCommand) || !strings.HasSuffix(line, "}")) {
				t.Fatalf("mixed: %q", line)
			}
		}
	})
	t.Run("not exposed", func(t *testing.T) {
		s := streaming
		s.Include = []string{"health"}
		for _, path := range []string{"/hystrix.stream", "/hystrix/config.stream", "/actuator/hystrix.stream"} {
			if got := ask(t, s, &gateway{}, "GET "+path); got.Code != http.StatusNotFound {
				t.Errorf("%s: %d", path, got.Code)
			}
		}
	})
}
