package gozer_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/internal/race"
)

// scraped are the lines of series that the gateway shows, without comments.
func scraped(tb testing.TB, g *gozer.Gateway) []string {
	tb.Helper()
	var lines []string
	for line := range strings.Lines(get(tb, g.Management(), "/actuator/prometheus").Body.String()) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// wantSeries fails unless each line is shown.
func wantSeries(tb testing.TB, g *gozer.Gateway, lines ...string) {
	tb.Helper()
	shown := scraped(tb, g)
	for _, line := range lines {
		if !slices.Contains(shown, line) {
			name, _, _ := strings.Cut(line, "{")
			alike := slices.DeleteFunc(slices.Clone(shown), func(s string) bool { return !strings.HasPrefix(s, name) })
			tb.Errorf("%s is not shown, but\n%s", line, strings.Join(alike, "\n"))
		}
	}
}

// answers makes users answer with the status that the path ends with, and with the
// body "answer".
func answers(g *gozer.Gateway) {
	g.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) {
		status := 200
		_, _ = fmt.Sscanf(r.URL.RequestURI()[strings.LastIndexByte(r.URL.RequestURI(), '/')+1:], "%d", &status)
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("answer")), ContentLength: 6, Request: r}, nil
	}))
}

func submit(tb testing.TB, g *gozer.Gateway, target, body string) {
	tb.Helper()
	g.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(tb.Context(), http.MethodPost, target, strings.NewReader(body)))
}

// wantInManual fails for each metric that the gateway shows and the manual does not have.
func wantInManual(tb testing.TB, g *gozer.Gateway) {
	tb.Helper()
	manual, err := os.ReadFile("docs/metrics.md")
	if err != nil {
		tb.Fatal(err)
	}
	families, err := g.Gatherer().Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range families {
		name := f.GetName()
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.Contains(string(manual), "`"+name+"`") {
			tb.Errorf("docs/metrics.md lacks %s", name)
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	g := newGateway(t, usersAt("users.ribbon.MaxAutoRetriesNextServer: 1\n", "one:80"))
	answers(g)
	get(t, g, "/users/200")
	get(t, g, "/users/404")
	get(t, g, "/nowhere")
	submit(t, g, "/users/201", "hello")
	submit(t, g, "/users/202", "hello")
	wantSeries(t, g,
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_class="2xx",http_route="users"} 1`,
		`http_server_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="4xx",http_route="users",le="10"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_class="4xx",http_route="_none"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_class="2xx",http_route="users"} 2`,
		`gozer_http_server_request_body_bytes_total{http_response_status_class="2xx",http_route="users"} 10`,
		`gozer_http_server_response_body_bytes_total{http_response_status_class="2xx",http_route="users"} 18`,
		`http_server_active_requests 0`,
		`http_client_request_duration_seconds_count{server="one:80",service="users"} 4`,
		`gozer_client_attempts_total{outcome="2xx",server="one:80",service="users"} 3`,
		`gozer_client_attempts_total{outcome="4xx",server="one:80",service="users"} 1`,
		`gozer_breaker_state{command="users",state="closed"} 1`,
		`gozer_breaker_open{command="users"} 0`,
		`gozer_command_events_total{command="users",event="success"} 4`,
		`gozer_service_servers{service="users",state="listed"} 1`,
		`gozer_retries_total{budget="granted",service="users"} 0`,
		`gozer_filter_total{filter="RibbonRoutingFilter",phase="route",status="success"} 4`,
		`gozer_pool_connections{service="users",state="idle"} 0`,
		`gozer_routes 1`,
		`gozer_ready 0`,
	)
	t.Run("the names and helps are good ones", func(t *testing.T) {
		problems, err := testutil.GatherAndLint(g.Gatherer())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	})
	t.Run("the manual has them all", func(t *testing.T) {
		wantInManual(t, g)
	})
	t.Run("Spring's shape", func(t *testing.T) {
		var m struct {
			Name, BaseUnit string
			Measurements   []struct {
				Statistic string
				Value     float64
			}
			AvailableTags []struct {
				Tag    string
				Values []string
			}
		}
		w := get(t, g.Management(), "/actuator/metrics/http.server.requests?tag=uri:users&tag=outcome:SUCCESS")
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
			t.Fatal(err, w.Body)
		}
		s := m.Measurements
		if m.Name != "http.server.requests" || m.BaseUnit != "seconds" || len(s) != 3 || s[0].Statistic != "COUNT" || s[0].Value != 3 ||
			s[1].Statistic != "TOTAL_TIME" || s[1].Value <= 0 || s[2].Statistic != "MAX" || s[2].Value <= 0 {
			t.Errorf("%+v", m)
		}
		if tags := fmt.Sprint(m.AvailableTags); tags != "[{method [GET POST]} {status [2xx]}]" {
			t.Error(tags)
		}
		if w := get(t, g.Management(), "/actuator/metrics/gozer.routes"); !strings.Contains(w.Body.String(), `"measurements":[{"statistic":"VALUE","value":1}]`) {
			t.Error(w.Body)
		}
		if w := get(t, g.Management(), "/actuator/metrics"); !strings.Contains(w.Body.String(), `"http.client.requests","http.server.requests","http.server.requests.active"`) {
			t.Error(w.Body)
		}
		if w := get(t, g.Management(), "/actuator/metrics/http.client.requests?tag=server:one:80"); !strings.Contains(w.Body.String(), `"statistic":"COUNT","value":4`) {
			t.Error(w.Body)
		}
	})
}

func TestFormatsOfPrometheus(t *testing.T) {
	g := newGateway(t, usersAt("", "one:80"))
	open := ask(t, g.Management(), http.MethodGet, "/actuator/prometheus", "Accept", "application/openmetrics-text; version=1.0.0")
	if kind := open.Header().Get("Content-Type"); !strings.HasPrefix(kind, "application/openmetrics-text") || !strings.HasSuffix(open.Body.String(), "# EOF\n") {
		t.Errorf("%s", kind)
	}
	packed := ask(t, g.Management(), http.MethodGet, "/actuator/prometheus", "Accept-Encoding", "gzip")
	r, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || !strings.Contains(string(text), "# HELP http_server_active_requests ") {
		t.Errorf("%v: %.100s", err, text)
	}
	if w := ask(t, g.Management(), http.MethodPost, "/actuator/prometheus"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestMetricsFollowReloads(t *testing.T) {
	const users = `http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_class="2xx",http_route="users"} `
	g := newGateway(t, usersAt("", "one:80"))
	count := func() {
		answers(g)
		get(t, g, "/users/200")
	}
	count()
	reload(t, g, usersAt("zuul.routes.docs: /docs/**\ndocs.ribbon.listOfServers: two:80\n", "one:80", "two:80"))
	count()
	wantSeries(t, g, users+"2", `gozer_routes 2`, `gozer_service_servers{service="users",state="listed"} 2`)
	t.Run("servers that are gone are not shown", func(t *testing.T) {
		reload(t, g, usersAt("", "three:80"))
		count()
		for _, line := range scraped(t, g) {
			if strings.Contains(line, `server="one:80"`) || strings.Contains(line, `"docs"`) {
				t.Error(line)
			}
		}
		wantSeries(t, g, users+"3", `http_client_request_duration_seconds_count{server="three:80",service="users"} 1`)
	})
	t.Run("other bounds", func(t *testing.T) {
		reload(t, g, usersAt("management.metrics.distribution.slo.http.server.requests: 1m\n", "three:80"))
		count()
		wantSeries(t, g, users+"1", `http_server_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",http_route="users",le="60"} 1`)
	})
	t.Run("switched off", func(t *testing.T) {
		reload(t, g, usersAt("management.metrics.enable: {http: false, go: false}\n", "three:80"))
		count()
		for _, line := range scraped(t, g) {
			if strings.HasPrefix(line, "http_") || strings.HasPrefix(line, "go_") {
				t.Error(line)
			}
		}
		wantSeries(t, g, `gozer_routes 1`)
	})
}

func TestMostServers(t *testing.T) {
	g := newGateway(t, usersAt("management.metrics.max-servers: 2\nusers.ribbon.NFLoadBalancerRuleClassName: RoundRobinRule\n", "a:80", "b:80", "c:80", "d:80"))
	answers(g)
	for range 8 {
		get(t, g, "/users/200")
	}
	attempts := 0
	var servers []string
	for _, line := range scraped(t, g) {
		if name, rest, _ := strings.Cut(line, `{outcome="2xx",server="`); name == "gozer_client_attempts_total" {
			server, _, _ := strings.Cut(rest, `"`)
			n := 0
			_, _ = fmt.Sscanf(rest[strings.LastIndexByte(rest, ' '):], "%d", &n)
			attempts += n
			servers = append(servers, server)
		}
	}
	if len(servers) != 3 || !slices.Contains(servers, "other") || attempts != 8 {
		t.Errorf("%d attempts on %v", attempts, servers)
	}
}

// series counts what is shown about requests, or may be because of them.
func series(tb testing.TB, g *gozer.Gateway) int {
	tb.Helper()
	return len(slices.DeleteFunc(scraped(tb, g), func(s string) bool { return strings.HasPrefix(s, "go_") }))
}

func TestLabelsAreBounded(t *testing.T) {
	n := 50_000
	if race.Enabled {
		n = 5_000
	}
	forge := filters.Func("Forge", filters.Pre, 6, func(c *filters.Context) error {
		if strings.HasPrefix(c.Path.Clean, "/forged") {
			c.ServiceID = c.Request.Host // what a careless filter does
		}
		return nil
	})
	g := newGateway(t, usersAt("", "one:80"), gozer.WithFilters(forge))
	answers(g)
	client := &sink{header: http.Header{}}
	flood := func(from int, paths []string, odd func(i int) bool) {
		for i := from; i < from+n; i++ {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf(paths[i%len(paths)], i, 100+i/len(paths)%900), http.NoBody)
			r.Host = "host" + strconv.Itoa(i) + ".test"
			r.Header.Set("User-Agent", r.Host)
			if odd(i) {
				r.Method = "XAAA" + strconv.Itoa(i)
			}
			client.serve(g, r)
		}
	}
	get(t, g, "/users/200")
	before := series(t, g)
	t.Run("C221 paths, hosts, methods, agents, services, statuses", func(t *testing.T) {
		flood(0, []string{"/users/%d/200?%d", "/users/%d/%d", "/service%d/%d"}, func(i int) bool { return i%6 == 0 })
		if more := series(t, g) - before; more >= 200 {
			t.Errorf("%d more series", more)
		}
	})
	t.Run("C221 the same again, all at once", func(t *testing.T) {
		paths := []string{"/users/%d/%d", "/%d/%d", "/forged/%d/%d"}
		flood(n, paths, func(i int) bool { return i%5 == 0 })
		before := series(t, g)
		flood(2*n, paths, func(i int) bool { return i%5 == 0 })
		if more := series(t, g) - before; more > 0 {
			t.Errorf("%d more series", more)
		}
		for _, line := range scraped(t, g) {
			if strings.Contains(line, "host1") || strings.Contains(line, "XAAA") || strings.Contains(line, "service1") {
				t.Fatal(line)
			}
		}
	})
}

func TestLoggersEndpoint(t *testing.T) {
	level := new(slog.LevelVar)
	g := newGateway(t, usersAt("logging.level.root: warn\n", "one:80"), gozer.WithLevel(level))
	management := g.Management()
	set := func(body string) int {
		w := httptest.NewRecorder()
		management.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/actuator/loggers/ROOT", strings.NewReader(body)))
		return w.Code
	}
	wantAnswer(t, get(t, management, "/actuator/loggers"), 200, `{"groups":{},"levels":["OFF","ERROR","WARN","INFO","DEBUG","TRACE"],"loggers":{"ROOT":{"configuredLevel":"WARN","effectiveLevel":"WARN"}}}`)
	if code := set(`{"configuredLevel": "debug"}`); code != http.StatusNoContent || level.Level().String() != "DEBUG" {
		t.Errorf("%d, level %s", code, level.Level())
	}
	reload(t, g, usersAt("logging.level.root: error\n", "one:80"))
	wantAnswer(t, get(t, management, "/actuator/loggers/root"), 200, `{"configuredLevel":"DEBUG","effectiveLevel":"DEBUG"}`)
	for body, want := range map[string]int{`{"configuredLevel": "LOUD"}`: 400, `DEBUG`: 400, `[]`: 400} {
		if code := set(body); code != want || level.Level().String() != "DEBUG" {
			t.Errorf("%s: %d, level %s", body, code, level.Level())
		}
	}
	if code := set(`{"configuredLevel": null}`); code != http.StatusNoContent || level.Level().String() != "ERROR" {
		t.Errorf("%d, level %s", code, level.Level())
	}
	if w := get(t, management, "/actuator/loggers/com.example"); w.Code != http.StatusNotFound {
		t.Errorf("an unknown logger: %d", w.Code)
	}
	if w := ask(t, management, http.MethodPost, "/actuator/loggers/ROOT", "Origin", "http://evil.test", "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("a web page: %d", w.Code)
	}
	foreign := newGateway(t, usersAt("", "one:80"))
	w := httptest.NewRecorder()
	foreign.Management().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/actuator/loggers/ROOT", strings.NewReader(`{"configuredLevel":"OFF"}`)))
	if w.Code != http.StatusConflict {
		t.Errorf("somebody else's logger: %d", w.Code)
	}
}

func TestScrapersThatHang(t *testing.T) {
	t.Run("one that does not read loses its place", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan struct{})
			network := memhttp.NewNetwork()
			network.Serve(t, "scraped:80", gozer.Within(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				defer close(ended)
				for chunk := make([]byte, 1<<16); ; {
					if _, err := w.Write(chunk); err != nil {
						return
					}
				}
			})))
			conn, err := network.Dial(t.Context(), "", "scraped:80")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			<-ended
		})
	})
	t.Run("the next answer on a connection has its own time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("/scrape", gozer.Within(time.Minute, http.NotFoundHandler()))
			mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { <-time.After(3 * time.Minute) })
			client, url := memhttp.NewClient(t, mux)
			for _, path := range []string{"/scrape", "/"} {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, http.NoBody) // is not repeated
				if err != nil {
					t.Fatal(err)
				}
				res, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	})
}
