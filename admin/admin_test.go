package admin_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/routing"
	"github.com/gozer-gateway/gozer/telemetry"
)

// gateway is a View with everything set by the test.
type gateway struct {
	routes     []*routing.Route
	filters    []filters.Info
	meter      *filters.Meter
	balancers  []*lb.Balancer
	retries    []telemetry.Retries
	commands   commands
	components []admin.Component
	draining   bool
	refresh    func() error
	change     admin.Change
	reloads    admin.Reloads
}

func (g *gateway) Routes() []*routing.Route      { return g.routes }
func (g *gateway) Filters() []filters.Info       { return g.filters }
func (g *gateway) Meter() *filters.Meter         { return g.meter }
func (g *gateway) Balancers() []*lb.Balancer     { return g.balancers }
func (g *gateway) Retries() []telemetry.Retries  { return g.retries }
func (g *gateway) Commands() admin.Commands      { return &g.commands }
func (g *gateway) Components() []admin.Component { return g.components }
func (g *gateway) Ready() bool                   { return !g.draining }
func (g *gateway) Reloads() admin.Reloads        { return g.reloads }

func (g *gateway) Refresh(context.Context) (admin.Change, error) { return g.change, g.refresh() }

// commands are made up by a test.
type commands struct {
	snapshots []ribboncmd.Snapshot
	pools     []ribboncmd.PoolSnapshot
}

func (c *commands) Snapshots() []ribboncmd.Snapshot { return c.snapshots }
func (c *commands) Pools() []ribboncmd.PoolSnapshot { return c.pools }

func (c *commands) Force(key string, o ribboncmd.Override) bool {
	for i := range c.snapshots {
		if c.snapshots[i].Service == key {
			c.snapshots[i].Override = o
			return true
		}
	}
	return false
}

func (c *commands) Reset(key string) bool { return c.Force(key, ribboncmd.NotForced) }

var everything = admin.Settings{BasePath: "/actuator", Include: []string{"*"}, Version: "1.2.3", Guard: admin.Guard{Open: true}}

func ask(t *testing.T, s admin.Settings, g *gateway, request string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	admin.New(s, g).ServeHTTP(w, r)
	if got := w.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s: Cache-Control %q", request, got)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("%s: Content-Type %q", request, got)
	}
	return w
}

func table(t *testing.T, s routing.Settings, routes ...routing.RouteSettings) []*routing.Route {
	t.Helper()
	s.Routes = routes
	built, problems := routing.Build(s, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return built.Routes()
}

func TestRoutes(t *testing.T) {
	prefixed := routing.DefaultSettings()
	prefixed.Prefix = "/api"
	no := false
	sensitive := []string{"X-Secret"}
	prefixedRoutes := table(t, prefixed, routing.RouteSettings{Key: "users"})
	routes := table(t, routing.DefaultSettings(),
		routing.RouteSettings{Key: "sslservice", URL: "https://localhost:8443"},
		routing.RouteSettings{Key: "first", URL: "https://first.example/a"},
		routing.RouteSettings{Key: "a", ServiceID: "users", StripPrefix: &no, SensitiveHeaders: &sensitive},
		routing.RouteSettings{Key: "local", URL: "forward:/here"},
	)
	const short = `{"/sslservice/**":"https://localhost:8443","/first/**":"https://first.example/a","/a/**":"users","/local/**":"forward:/here"}`
	const ssl = `"/sslservice/**":{"id":"sslservice","fullPath":"/sslservice/**","location":"https://localhost:8443","path":"/**","prefix":"/sslservice",` +
		`"retryable":false,"customSensitiveHeaders":false,"prefixStripped":true}`
	const unstripped = `"/a/**":{"id":"a","fullPath":"/a/**","location":"users","path":"/a/**",` +
		`"retryable":false,"sensitiveHeaders":["x-secret"],"customSensitiveHeaders":true,"prefixStripped":false}`
	const long = `{` + ssl + `,"/first/**":{"id":"first","fullPath":"/first/**","location":"https://first.example/a","path":"/**","prefix":"/first",` +
		`"retryable":false,"customSensitiveHeaders":false,"prefixStripped":true},` + unstripped +
		`,"/local/**":{"id":"local","fullPath":"/local/**","location":"forward:/here","path":"/**","prefix":"/local",` +
		`"retryable":false,"customSensitiveHeaders":false,"prefixStripped":true}}`
	tests := map[string]struct {
		request string
		routes  []*routing.Route
		want    string
	}{
		"zuul 150 short":              {"GET /actuator/routes", routes, short},
		"zuul 150 details":            {"GET /actuator/routes/details", routes, long},
		"details in any case":         {"GET /actuator/routes/Details", routes, long},
		"another segment":             {"GET /actuator/routes/other", routes, short},
		"format parameter":            {"GET /actuator/routes?format=details", routes, long},
		"without base path":           {"GET /routes", routes, short},
		"details without base path":   {"GET /routes/details", routes, long},
		"format without base path":    {"GET /routes?format=details", routes, long},
		"zuul 9.1 global prefix":      {"GET /actuator/routes/details", prefixedRoutes, `{"/api/users/**":{"id":"users","fullPath":"/api/users/**","location":"users","path":"/**","prefix":"/api/users","retryable":false,"customSensitiveHeaders":false,"prefixStripped":true}}`},
		"none":                        {"GET /actuator/routes", nil, `{}`},
		"same full path, last wins":   {"GET /routes", []*routing.Route{{FullPath: "/a", Location: "1"}, {FullPath: "/b", Location: "2"}, {FullPath: "/a", Location: "3"}}, `{"/a":"3","/b":"2"}`},
		"C225 credentials are hidden": {"GET /routes", []*routing.Route{{FullPath: "/a", Location: "http://u:secret@h/p?token=t&x=1"}}, `{"/a":"http://xxxxx@h/p?xxxxx"}`},
		"C225 in details too":         {"GET /routes/details", []*routing.Route{{FullPath: "/a", Location: "http://u:secret@h/p"}}, `{"/a":{"id":"","fullPath":"/a","location":"http://xxxxx@h/p","path":"","retryable":false,"customSensitiveHeaders":false,"prefixStripped":false}}`},
		"C225 unreadable":             {"GET /routes", []*routing.Route{{FullPath: "/a", Location: "http://u:secret@[h/p"}}, `{"/a":"(not a URL)"}`},
		"not made for web pages":      {"GET /routes", []*routing.Route{{FullPath: "/a&b", Location: "<x>"}}, `{"/a&b":"<x>"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ask(t, everything, &gateway{routes: test.routes}, test.request)
			if got.Code != http.StatusOK || got.Body.String() != test.want {
				t.Errorf("%d\n got %s\nwant %s", got.Code, got.Body, test.want)
			}
		})
	}
}

func TestRefresh(t *testing.T) {
	for _, path := range []string{"/actuator/routes", "/routes"} {
		t.Run("zuul 150 POST "+path, func(t *testing.T) {
			g := &gateway{routes: []*routing.Route{{FullPath: "/old", Location: "old"}}}
			g.refresh = func() error {
				g.routes = []*routing.Route{{FullPath: "/new", Location: "new"}}
				return nil
			}
			got := ask(t, everything, g, "POST "+path)
			if got.Code != http.StatusOK || got.Body.String() != `{"/new":"new"}` {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		})
	}
	t.Run("a faulty configuration is reported", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := &gateway{refresh: func() error { return errors.New("gateway.yaml:3: zuul.rutes: unknown key") }}
			got := ask(t, everything, g, "POST /actuator/routes")
			const want = `{"timestamp":"2000-01-01T00:00:00.000+0000","status":500,"error":"Internal Server Error",` +
				`"message":"gateway.yaml:3: zuul.rutes: unknown key","path":"/actuator/routes"}`
			if got.Code != http.StatusInternalServerError || got.Body.String() != want {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		})
	})
	t.Run("not from a web page", func(t *testing.T) {
		g := &gateway{refresh: func() error { t.Error("refreshed"); return nil }}
		got := ask(t, everything, g, "POST /actuator/routes", "Sec-Fetch-Site", "cross-site")
		if got.Code != http.StatusForbidden {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	})
}

func TestHealth(t *testing.T) {
	const up = `"livenessState":{"status":"UP"},"readinessState":{"status":"UP"}`
	open := []ribboncmd.Snapshot{{Service: "orders", Group: "RibbonCommand"}, {Service: "users", Group: "RibbonCommand", IsOpen: true}}
	tests := map[string]struct {
		request string
		gateway gateway
		status  int
		want    string
	}{
		"all is well": {
			"GET /actuator/health",
			gateway{commands: commands{snapshots: open[:1]}},
			200,
			`{"status":"UP","components":{"hystrix":{"status":"UP"},` + up + `}}`,
		},
		"hystrix 5.6 an open circuit": {
			"GET /actuator/health",
			gateway{commands: commands{snapshots: open}},
			200,
			`{"status":"UP","components":{"hystrix":{"status":"CIRCUIT_OPEN","details":{"openCircuitBreakers":["RibbonCommand::users"]}},` + up + `}}`,
		},
		"C227 discovery is dead": {
			"GET /actuator/health",
			gateway{components: []admin.Component{{Name: "eureka", Status: admin.Down, Details: map[string]any{"lastSuccess": "1h0m0s"}}}},
			503,
			`{"status":"DOWN","components":{"hystrix":{"status":"UP"},` + up + `,"eureka":{"status":"DOWN","details":{"lastSuccess":"1h0m0s"}}}}`,
		},
		"down is worse than out of service": {
			"GET /actuator/health",
			gateway{draining: true, components: []admin.Component{{Name: "a", Status: admin.Down}, {Name: "b", Status: admin.OutOfService}}},
			503,
			`{"status":"DOWN","components":{"hystrix":{"status":"UP"},"livenessState":{"status":"UP"},"readinessState":{"status":"OUT_OF_SERVICE"},` +
				`"a":{"status":"DOWN"},"b":{"status":"OUT_OF_SERVICE"}}}`,
		},
		"draining": {
			"GET /actuator/health",
			gateway{draining: true},
			503,
			`{"status":"OUT_OF_SERVICE","components":{"hystrix":{"status":"UP"},"livenessState":{"status":"UP"},"readinessState":{"status":"OUT_OF_SERVICE"}}}`,
		},
		"liveness":                 {"GET /actuator/health/liveness", gateway{}, 200, `{"status":"UP"}`},
		"liveness while draining":  {"GET /actuator/health/liveness", gateway{draining: true}, 200, `{"status":"UP"}`},
		"readiness":                {"GET /actuator/health/readiness", gateway{}, 200, `{"status":"UP"}`},
		"readiness while draining": {"GET /actuator/health/readiness", gateway{draining: true}, 503, `{"status":"OUT_OF_SERVICE"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ask(t, everything, &test.gateway, test.request)
			if got.Code != test.status || got.Body.String() != test.want {
				t.Errorf("%d\n got %s\nwant %s", got.Code, got.Body, test.want)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	got := ask(t, everything, &gateway{}, "GET /actuator/info").Body.String()
	if want := `{"build":{"version":"1.2.3"},"go":{"version":"` + runtime.Version() + `"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInfoOfTheConfiguration(t *testing.T) {
	s := everything
	s.Info = map[string]any{"app": map[string]any{"name": "Gate"}, "build": "mine"}
	got := ask(t, s, &gateway{}, "GET /actuator/info").Body.String()
	if want := `{"app":{"name":"Gate"},"build":"mine","go":{"version":"` + runtime.Version() + `"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestIDs compares with the index, whose links begin with an id each.
func TestIDs(t *testing.T) {
	index := ask(t, everything, &gateway{}, "GET /actuator").Body.String()
	served := map[string]bool{}
	for _, name := range regexp.MustCompile(`"/?([a-z.]+)(-[a-z]+)?":\{"href"`).FindAllStringSubmatch(index, -1) {
		served[name[1]] = true
	}
	delete(served, "self")
	if diff := cmp.Diff(admin.IDs(), slices.Sorted(maps.Keys(served))); diff != "" {
		t.Errorf("-ids +served:\n%s", diff)
	}
}

func chain(t *testing.T) *filters.Chain {
	t.Helper()
	nothing := func(*filters.Context) error { return nil }
	ch, err := filters.NewChain([]filters.Spec{
		filters.Func("Second", filters.Pre, 5, nothing),
		filters.Func("First", filters.Pre, -1, nothing),
		filters.Func("Second", filters.Post, 1000, nothing),
		filters.Func("Sample", "sample", 0, nothing),
	}, filters.Settings{Disabled: func(name string, _ filters.Phase) bool { return name == "First" }})
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func TestFilters(t *testing.T) {
	t.Run("zuul 151 a filter of a type of its own", func(t *testing.T) {
		ch := chain(t)
		got := ask(t, everything, &gateway{filters: ch.Filters()}, "GET /actuator/filters").Body.String()
		const want = `{"post":[{"class":"filters.always","name":"Second","order":1000,"disabled":false,"static":true}],` +
			`"pre":[{"class":"filters.always","name":"First","order":-1,"disabled":true,"static":true},` +
			`{"class":"filters.always","name":"Second","order":5,"disabled":false,"static":true}],` +
			`"sample":[{"class":"filters.always","name":"Sample","order":0,"disabled":false,"static":true}]}`
		if got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	})
}

func TestMetrics(t *testing.T) {
	ch := chain(t)
	meter := ch.Meter()
	meter.Filter(filters.Pre, "Second").Success.Add(3)
	meter.Filter(filters.Pre, "Second").Failed.Add(1)
	meter.Filter(filters.Post, "Second").Success.Add(2)
	for range 3 {
		meter.CountError("a/b cause", 404)
	}
	g := &gateway{filters: ch.Filters(), meter: meter, retries: []telemetry.Retries{{Service: "orders", Granted: 7, Denied: 0}, {Service: "users", Granted: 5, Denied: 2}}}
	const all = `"availableTags":[{"tag":"filtertype","values":["post","pre"]},{"tag":"status","values":["SUCCESS","SKIPPED","DISABLED","FAILED"]}]`
	for name, row := range map[string]struct{ request, want string }{
		"names":             {"GET /actuator/metrics", `{"names":["ZUUL::EXCEPTION:a/b cause:404","gateway.reload.last.success","gateway.reloads","gateway.retries","gateway.tunnels.active","gateway.tunnels.bytes","gateway.tunnels.opened","zuul.filter-First","zuul.filter-Sample","zuul.filter-Second"]}`},
		"zuul 149":          {"GET /actuator/metrics/ZUUL::EXCEPTION:a%2Fb%20cause:404", `{"name":"ZUUL::EXCEPTION:a/b cause:404","measurements":[{"statistic":"COUNT","value":3}],"availableTags":[]}`},
		"zuul 1.3 a filter": {"GET /actuator/metrics/zuul.filter-Second", `{"name":"zuul.filter-Second","measurements":[{"statistic":"COUNT","value":6}],` + all + `}`},
		"retries": {
			"GET /actuator/metrics/gateway.retries?tag=service:users",
			`{"name":"gateway.retries","measurements":[{"statistic":"COUNT","value":7}],"availableTags":[{"tag":"budget","values":["granted","denied"]}]}`,
		},
		"one tag": {
			"GET /actuator/metrics/zuul.filter-Second?tag=filtertype:pre",
			`{"name":"zuul.filter-Second","measurements":[{"statistic":"COUNT","value":4}],"availableTags":[{"tag":"status","values":["SUCCESS","SKIPPED","DISABLED","FAILED"]}]}`,
		},
		"two tags": {
			"GET /actuator/metrics/zuul.filter-Second?tag=status:SUCCESS&tag=filtertype:post",
			`{"name":"zuul.filter-Second","measurements":[{"statistic":"COUNT","value":2}],"availableTags":[]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, everything, g, row.request)
			if got.Code != http.StatusOK || got.Body.String() != row.want {
				t.Errorf("%d\n got %s\nwant %s", got.Code, got.Body, row.want)
			}
		})
	}
	for _, request := range []string{"GET /actuator/metrics/unknown", "GET /actuator/metrics/zuul.filter-Second?tag=status:ODD"} {
		t.Run(request, func(t *testing.T) {
			if got := ask(t, everything, g, request); got.Code != http.StatusNotFound {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		})
	}
	t.Run("nothing counted", func(t *testing.T) {
		if got := ask(t, everything, &gateway{meter: filters.NewMeter()}, "GET /actuator/metrics").Body.String(); got != `{"names":["gateway.reload.last.success","gateway.reloads","gateway.tunnels.active","gateway.tunnels.bytes","gateway.tunnels.opened"]}` {
			t.Error(got)
		}
	})
}

func TestIndex(t *testing.T) {
	s := everything
	s.Include = []string{"health", "metrics", "routes"}
	s.Exclude = []string{"routes"}
	for base, want := range map[string]string{
		"/actuator": `{"_links":{"self":{"href":"http://example.com/actuator","templated":false},` +
			`"health":{"href":"http://example.com/actuator/health","templated":false},` +
			`"health-liveness":{"href":"http://example.com/actuator/health/liveness","templated":false},` +
			`"health-readiness":{"href":"http://example.com/actuator/health/readiness","templated":false},` +
			`"metrics":{"href":"http://example.com/actuator/metrics","templated":false},` +
			`"metrics-name":{"href":"http://example.com/actuator/metrics/{name}","templated":true}}}`,
		"/": `{"_links":{"self":{"href":"http://example.com/","templated":false},` +
			`"health":{"href":"http://example.com/health","templated":false},` +
			`"health-liveness":{"href":"http://example.com/health/liveness","templated":false},` +
			`"health-readiness":{"href":"http://example.com/health/readiness","templated":false},` +
			`"metrics":{"href":"http://example.com/metrics","templated":false},` +
			`"metrics-name":{"href":"http://example.com/metrics/{name}","templated":true}}}`,
	} {
		t.Run(base, func(t *testing.T) {
			s.BasePath = base
			if got := ask(t, s, &gateway{}, "GET "+base).Body.String(); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestExposure(t *testing.T) {
	for name, row := range map[string]struct {
		include, exclude []string
		request          string
		status           int
	}{
		"all":                    {[]string{"*"}, nil, "GET /actuator/info", 200},
		"named":                  {[]string{"info"}, nil, "GET /actuator/info", 200},
		"not named":              {[]string{"health"}, nil, "GET /actuator/info", 404},
		"none":                   {nil, nil, "GET /actuator/info", 404},
		"excluded":               {[]string{"*"}, []string{"info"}, "GET /actuator/info", 404},
		"all excluded":           {[]string{"*"}, []string{"*"}, "GET /actuator/info", 404},
		"part of an excluded":    {[]string{"*"}, []string{"health"}, "GET /actuator/health/liveness", 404},
		"routes excluded":        {[]string{"*"}, []string{"routes"}, "GET /routes", 404},
		"routes excluded, POST":  {[]string{"*"}, []string{"routes"}, "POST /routes", 404},
		"the index is always on": {nil, nil, "GET /actuator", 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := admin.Settings{BasePath: "/actuator", Include: row.include, Exclude: row.exclude, Guard: admin.Guard{Open: true}}
			if got := ask(t, s, &gateway{}, row.request); got.Code != row.status {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for name, row := range map[string]struct {
		request string
		status  int
		allow   string
	}{
		"unknown path":      {"GET /actuator/nothing", 404, ""},
		"outside the base":  {"GET /health", 404, ""},
		"wrong method":      {"DELETE /actuator/health", 405, "GET, HEAD"},
		"wrong method here": {"PUT /actuator/routes", 405, "GET, POST, HEAD"},
		"options":           {"OPTIONS /actuator/routes/details", 405, "GET, HEAD"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, everything, &gateway{}, row.request)
			if got.Code != row.status || got.Header().Get("Allow") != row.allow {
				t.Errorf("%d, Allow %q", got.Code, got.Header().Get("Allow"))
			}
			_, path, _ := strings.Cut(row.request, " ")
			if body := got.Body.String(); !strings.HasPrefix(body, `{"timestamp":"`) || !strings.HasSuffix(body, `,"path":"`+path+`"}`) {
				t.Errorf("body %s", body)
			}
		})
	}
}

func TestHEAD(t *testing.T) {
	server := httptest.NewServer(admin.New(everything, &gateway{}))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+"/actuator/health/liveness", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK || res.ContentLength != int64(len(`{"status":"UP"}`)) || len(body) > 0 || err != nil {
		t.Errorf("status %d, length %d, body %q, %v", res.StatusCode, res.ContentLength, body, err)
	}
}

func TestShapes(t *testing.T) {
	t.Run("an object keeps the order of 100 routes", func(t *testing.T) {
		var routes []*routing.Route
		var want []string
		for i := range 100 {
			path := "/" + strings.Repeat("z", 100-i)
			routes = append(routes, &routing.Route{FullPath: path, Location: "l"})
			want = append(want, `"`+path+`":"l"`)
		}
		got := ask(t, everything, &gateway{routes: routes}, "GET /routes").Body.String()
		if diff := cmp.Diff("{"+strings.Join(want, ",")+"}", got); diff != "" {
			t.Error(diff)
		}
	})
}
