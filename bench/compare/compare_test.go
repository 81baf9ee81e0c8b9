//go:build linux

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestReadWrk(t *testing.T) {
	const text = `Running 4s test @ http://127.0.0.1:8001/small
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.03ms  215.00us   6.30ms   92.10%
    Req/Sec    62.40k     1.90k   65.10k    80.00%
  Latency Distribution
     50%    0.98ms
     75%    1.10ms
     90%    1.21ms
     99%    1.85s 
  248501 requests in 4.00s, 62.10MB read
  Socket errors: connect 0, read 3, write 0, timeout 1
  Non-2xx or 3xx responses: 7
Requests/sec:  62106.93
Transfer/sec:     15.52MB
`
	got, err := readWrk(text)
	if err != nil {
		t.Fatal(err)
	}
	want := outcome{requests: 248501, rate: 62106.93, failed: 11, latency: latency{p50: 980 * time.Microsecond, p99: 1850 * time.Millisecond}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{}, latency{})); diff != "" {
		t.Error(diff)
	}
	if _, err := readWrk("unable to connect to 127.0.0.1:1 Connection refused"); err == nil {
		t.Error("a report without requests was taken")
	}
}

func TestQuantile(t *testing.T) {
	sorted := make([]time.Duration, 100)
	for i := range sorted {
		sorted[i] = time.Duration(i + 1)
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 50, 0.99: 99, 0.999: 100, 1: 100} {
		if got := quantile(sorted, q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("quantile of nothing is %d", got)
	}
}

func TestMedian(t *testing.T) {
	same := func(n int) int { return n }
	for want, all := range map[int][]int{0: nil, 3: {9, 1, 3}, 5: {4, 2, 6, 8}} {
		if got := median(all, same); got != want {
			t.Errorf("median of %v is %d, want %d", all, got, want)
		}
	}
}

// serve answers requests on loopback with serve's answers; before is called ahead of each.
func serve(t *testing.T, status string, before func()) string {
	t.Helper()
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answer(conn, status, before)
		}
	}()
	return l.Addr().String()
}

func answer(conn net.Conn, status string, before func()) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		before()
		if _, err := io.WriteString(conn, "HTTP/1.1 "+status+"\r\nContent-Length: 2\r\n\r\nok"); err != nil {
			return
		}
	}
}

// One connection, 100 requests in 100 ms, the 10th of which is held for 50 ms: whoever
// only times the exchanges sees one slow request, whoever was due meanwhile sees fifty.
func TestOpenLoopCountsFromWhenRequestsWereDue(t *testing.T) {
	var n atomic.Int32
	addr := serve(t, "200 OK", func() {
		if n.Add(1) == 10 {
			<-time.After(50 * time.Millisecond)
		}
	})
	got, err := openLoop(t.Context(), addr, request{path: "/"}, 1, 1000, 100*time.Millisecond, nap)
	if err != nil {
		t.Fatal(err)
	}
	if got.requests != 100 || got.failed != 0 {
		t.Errorf("%d requests, %d failed, want 100 and none", got.requests, got.failed)
	}
	if got.latency.p99 < 40*time.Millisecond {
		t.Errorf("99%% took %v at most: the stall of 50ms was forgotten", got.latency.p99)
	}
	if got.latency.p999 < 50*time.Millisecond {
		t.Errorf("the slowest took %v, it was held for 50ms", got.latency.p999)
	}
}

func TestLoopsCountFailures(t *testing.T) {
	addr := serve(t, "503 Service Unavailable", func() {})
	if _, err := openLoop(t.Context(), addr, request{path: "/"}, 1, 100, time.Millisecond, nap); err == nil {
		t.Error("a proxy that answers 503 was taken for one that works")
	}
}

func TestOwnLoop(t *testing.T) {
	addr := serve(t, "200 OK", func() {})
	got, err := ownLoop(t.Context(), addr, request{path: "/", post: 10}, 2, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if got.requests == 0 || got.rate == 0 || got.failed != 0 || got.latency.p50 == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestRequestText(t *testing.T) {
	for want, r := range map[string]request{
		"GET /a HTTP/1.1\r\nHost: bench.test\r\n\r\n":                          {path: "/a"},
		"POST /a HTTP/1.1\r\nHost: bench.test\r\nContent-Length: 3\r\n\r\nxxx": {path: "/a", post: 3},
	} {
		if got := r.text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPick(t *testing.T) {
	all := []peer{{name: "nginx"}, {name: "HAProxy"}, {name: "Gozer"}}
	got, err := pick(all, []string{"gozer", "nginx"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]peer{all[2], all[0]}, got, cmp.AllowUnexported(peer{})); diff != "" {
		t.Error(diff)
	}
	if _, err := pick(all, []string{"caddy"}); err == nil {
		t.Error("a proxy that is not there was picked")
	}
}

func TestPickScenes(t *testing.T) {
	all, err := pickScenes(nil)
	if err != nil || len(all) != len(allScenes()) {
		t.Errorf("without names %d scenes, %v", len(all), err)
	}
	some, err := pickScenes([]string{"64 KiB", "small"})
	if err != nil || len(some) != 2 || some[0].name != "small" {
		t.Errorf("picked %v, %v", some, err)
	}
	if _, err := pickScenes([]string{"small", "huge"}); err == nil {
		t.Error("a scene that is not there was picked")
	}
}

func TestParse(t *testing.T) {
	got, err := parse([]string{"-quick", "-only", "nginx,Gozer", "-build", "old=/tmp/old"})
	if err != nil {
		t.Fatal(err)
	}
	want := settings{rounds: 2, span: time.Second, idleConns: 10_000, fixedRate: true, only: list{"nginx", "Gozer"}, builds: list{"old=/tmp/old"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" {
		t.Error(diff)
	}
	if _, err := parse([]string{"-rounds", "0"}); err == nil {
		t.Error("no rounds are none")
	}
}

// Every configuration is a template that a place fills.
func TestConfigurations(t *testing.T) {
	at := place{Dir: t.TempDir(), Port: 8001, Management: 8002, Backends: []string{"127.0.0.1:9101", "127.0.0.1:9102"}, Connections: 64}
	for _, p := range append(installed(), gozer("Gozer", "gateway"), peer{name: "ReverseProxy", program: "reverseproxy"}) {
		command, err := p.command(at)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(command, " ")
		if p.config != "" {
			config, err := os.ReadFile(filepath.Join(at.Dir, p.config))
			if err != nil {
				t.Fatal(err)
			}
			text += string(config)
		}
		for _, part := range append(at.Backends, "8001") {
			if !strings.Contains(text, part) {
				t.Errorf("%s is started without %s:\n%s", p.name, part, text)
			}
		}
	}
}

func TestMarkdown(t *testing.T) {
	us := func(n float64, rate float64) sample {
		return sample{cpu: n, outcome: outcome{rate: rate, latency: latency{p99: time.Millisecond}}}
	}
	r := &result{
		settings: settings{rounds: 3, span: time.Second},
		peers:    []peer{{name: "nginx"}, {name: "Gozer"}},
		scenes:   []scene{{name: "small"}},
		closed: map[string]map[string][]sample{
			"nginx": {"small": {us(10, 1000), us(12, 900), us(11, 950)}},
			"Gozer": {"small": {us(22, 475), us(40, 100), us(11, 1900)}},
		},
		command: "bench/compare",
	}
	r.closed["Gozer"]["small"][1].failed = 2
	got := r.markdown()
	for _, want := range []string{
		"`bench/compare`, 3 rounds of 1s", "| nginx | 11.0 µs |", "| Gozer | 2.00 |", "| nginx | 950 |", "| Gozer | 0.50 |",
		"Gozer, small: 2 requests failed.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestReplacePart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "performance.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n" + partBegin + "\nold\n" + partEnd + "\nafter\n")
	if err := replacePart(file, "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n" + partBegin + "\n\nnew\n\n" + partEnd + "\nafter\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	write("no marks")
	if err := replacePart(file, "new"); err == nil {
		t.Error("a file without a generated part was overwritten")
	}
}

// A program that starts children of its own is ended with all of them.
func TestProcessEndsWithItsChildren(t *testing.T) {
	p, err := start(t.Context(), proxyCore, filepath.Join(t.TempDir(), "log"), "sh", "-c", "sleep 100 & sleep 100 & wait")
	if err != nil {
		t.Skip("no taskset here: ", err)
	}
	var family []int
	for deadline := time.Now().Add(5 * time.Second); len(family) < 3 && time.Now().Before(deadline); {
		family = p.family()
	}
	if len(family) < 3 {
		p.end()
		t.Fatalf("a shell with two children is %v", family)
	}
	if p.memory("VmRSS") == 0 {
		t.Error("three processes without memory")
	}
	p.end()
	if left := p.family(); len(left) != 1 {
		t.Errorf("children of an ended process: %v", left)
	}
	if p.memory("VmRSS") != 0 {
		t.Error("an ended process has memory")
	}
}

func TestStartFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := untilAnswered(ctx, "127.0.0.1:1", "/"); err == nil {
		t.Error("an answer from nobody")
	}
}
