package telemetry_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/leaktest"
	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/internal/tlsout"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/routing"
	"github.com/gozer-gateway/gozer/telemetry"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func observing(tb testing.TB, s telemetry.Settings) (*telemetry.Observer, *routing.Route, prometheus.Gatherer) {
	tb.Helper()
	m := telemetry.NewMetrics(func() int64 { return 0 })
	route := &routing.Route{ID: "users"}
	o := m.Observer(s, []*routing.Route{route}, []string{"users"})
	o.PutInForce()
	return o, route, m.Gatherer()
}

// one is a finished request.
func one(tb testing.TB, route *routing.Route, start time.Time, attempts ...filters.Attempt) *filters.Context {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/users/1", http.NoBody)
	c := filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/users/1", Clean: "/users/1"}, start)
	c.Route, c.ServiceID = route, "users"
	for _, a := range attempts {
		c.Attempted(a)
	}
	return c
}

// count adds up the numbers of series of families, histograms by their buckets.
func count(tb testing.TB, g prometheus.Gatherer) (n int) {
	tb.Helper()
	families, err := g.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			n += max(1, len(m.GetHistogram().GetBucket())+3)
		}
	}
	return n
}

func TestMillionsMakeNoSeries(t *testing.T) {
	t.Run("C221 a million methods, servers and statuses", func(t *testing.T) {
		n := 1_000_000
		if race.Enabled {
			n = 50_000
		}
		o, route, all := observing(t, telemetry.Settings{MaxServers: 3})
		before := count(t, all)
		c := one(t, route, time.Now())
		for i := range n {
			c.Request.Method = fmt.Sprintf("X%d", i)
			c.Path.Raw = fmt.Sprintf("/users/%d", i)
			if i%100 == 0 {
				c = one(t, route, time.Now(), filters.Attempt{Server: fmt.Sprintf("s%d:80", i), Status: i % 1000, Cause: fmt.Sprintf("cause %d", i%7)})
			}
			o.Begin(c)
			o.End(c)
		}
		if more := count(t, all) - before; more > 200 {
			t.Errorf("%d more series", more)
		}
	})
}

func TestObserverAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	o, route, _ := observing(t, telemetry.Settings{MaxServers: 3})
	c := one(t, route, time.Now(), filters.Attempt{Server: "a:80", Status: 200, Start: time.Now(), Took: time.Millisecond})
	if n := testing.AllocsPerRun(1000, func() { o.Begin(c); o.End(c) }); n > 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkObserver(b *testing.B) {
	o, route, _ := observing(b, telemetry.Settings{MaxServers: 3})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		c := one(b, route, time.Now(), filters.Attempt{Server: "a:80", Status: 200, Start: time.Now(), Took: time.Millisecond})
		for pb.Next() {
			o.Begin(c)
			o.End(c)
		}
	})
}

func TestBuckets(t *testing.T) {
	o, route, all := observing(t, telemetry.Settings{MaxServers: 3, ClientBuckets: []time.Duration{time.Millisecond, time.Second}})
	for _, took := range []time.Duration{0, time.Millisecond, time.Millisecond + 1, time.Second, time.Hour} {
		o.End(one(t, route, time.Now(), filters.Attempt{Server: "a:80", Status: 200, Start: time.Now(), Took: took}))
	}
	families, err := all.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "http_client_request_duration_seconds" {
			continue
		}
		h := f.GetMetric()[0].GetHistogram()
		if b := h.GetBucket(); len(b) != 2 || b[0].GetCumulativeCount() != 2 || b[1].GetCumulativeCount() != 4 || h.GetSampleCount() != 5 || h.GetSampleSum() < 3601 {
			t.Errorf("%v", h)
		}
		return
	}
	t.Error("there is no histogram")
}

// values are the values that a label has in a family.
func values(tb testing.TB, g prometheus.Gatherer, family, label string) []string {
	tb.Helper()
	families, err := g.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	var all []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == family && l.GetName() == label && !slices.Contains(all, l.GetValue()) {
					all = append(all, l.GetValue())
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

func TestHostsOfURLRoutesThatAreGone(t *testing.T) {
	m := telemetry.NewMetrics(func() int64 { return 0 })
	for i := range 10 {
		var routes []*routing.Route
		for _, host := range []string{"stays:80", fmt.Sprintf("h%d:80", i)} {
			routes = append(routes, &routing.Route{ID: host, URL: &url.URL{Scheme: "http", Host: host}})
		}
		o := m.Observer(telemetry.Settings{MaxServers: 3}, routes, nil)
		o.PutInForce()
		for _, r := range routes {
			c := one(t, r, time.Now(), filters.Attempt{Server: r.URL.Host, Status: 200})
			c.ServiceID = ""
			o.End(c)
		}
	}
	const family = "gozer_client_attempts_total"
	if got := values(t, m.Gatherer(), family, "server"); !slices.Equal(got, []string{"h9:80", "stays:80"}) {
		t.Errorf("servers %q", got)
	}
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == family && f.GetMetric()[1].GetCounter().GetValue() != 10 {
			t.Errorf("the host that stays begins anew: %v", f.GetMetric())
		}
	}
}

func TestLabelsThatAreNoText(t *testing.T) {
	m := telemetry.NewMetrics(func() int64 { return 0 })
	all := m.Gatherer(func(e *telemetry.Emitter) { e.Gauge("gozer_x", "X.", 1, "command", "a\xffb") })
	if got := values(t, all, "gozer_x", "command"); !slices.Equal(got, []string{"a\uFFFDb"}) {
		t.Errorf("commands %q", got)
	}
}

// While nobody reads the metrics servers that are gone keep their series, as many as there may be;
// with the first reading they make room.
func TestServersThatAreGone(t *testing.T) {
	m := telemetry.NewMetrics(func() int64 { return 0 })
	route := &routing.Route{ID: "users"}
	o := m.Observer(telemetry.Settings{MaxServers: 3}, []*routing.Route{route}, []string{"users"})
	o.PutInForce()
	called := func(server string) { o.End(one(t, route, time.Now(), filters.Attempt{Server: server, Status: 200})) }
	for i := range 1000 {
		called(fmt.Sprintf("s%d:80", i))
	}
	want := func(servers ...string) {
		t.Helper()
		if got := values(t, m.Gatherer(), "gozer_client_attempts_total", "server"); !slices.Equal(got, servers) {
			t.Errorf("servers %q, want %q", got, servers)
		}
	}
	want("other", "s0:80", "s1:80", "s2:80")
	m.Prune("users", map[string]bool{"s2:80": true, "s999:80": true})
	called("s999:80")
	want("other", "s2:80", "s999:80")
}

// Attempts on servers beyond the limit are added up, from all sides at once.
func TestServersBeyondTheLimit(t *testing.T) {
	o, route, all := observing(t, telemetry.Settings{MaxServers: 2})
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 250 {
				o.End(one(t, route, time.Now(), filters.Attempt{Server: fmt.Sprintf("s%d-%d:80", w, i), Status: 200}))
			}
		})
	}
	workers.Wait()
	families, err := all.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var series, attempts int
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "gozer_client_attempts_total" {
				series, attempts = series+1, attempts+int(m.GetCounter().GetValue())
			}
		}
	}
	if series != 3 || attempts != 1000 {
		t.Errorf("%d series of %d attempts", series, attempts)
	}
}

func TestOutcomesOfFailures(t *testing.T) {
	o, route, all := observing(t, telemetry.Settings{MaxServers: 2})
	want := []string{lb.CauseOf(lb.Connect, &tlsout.Error{})}
	for k := lb.General; k <= lb.Aborted; k++ {
		if want = append(want, k.Cause()); k.Cause() == "" {
			t.Errorf("%v has no cause", k)
		}
	}
	for _, cause := range want {
		o.End(one(t, route, time.Now(), filters.Attempt{Server: "a:80", Cause: cause}))
	}
	slices.Sort(want)
	if got := values(t, all, "gozer_client_attempts_total", "outcome"); !slices.Equal(got, slices.Compact(want)) {
		t.Errorf("outcomes %q, want %q", got, slices.Compact(want))
	}
}
