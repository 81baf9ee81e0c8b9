package pre_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/pre"
	"github.com/gozer-gateway/gozer/routing"
)

// client is the peer of zuul.md 10; by default the tests trust it.
const client = "5.6.7.8:40000"

// trusting trusts the peers of some networks.
func trusting(networks ...string) filtertest.Option {
	t := &filters.Trust{MaxHops: 64}
	for _, n := range networks {
		t.Proxies = append(t.Proxies, netip.MustParsePrefix(n))
	}
	return filtertest.Trust(t)
}

func trustClient() filtertest.Option { return trusting("5.6.7.8/32") }

// table builds routes; change adapts the other settings and may be nil.
func table(tb testing.TB, change func(*routing.Settings), routes ...routing.RouteSettings) *routing.Table {
	tb.Helper()
	s := routing.DefaultSettings()
	s.Routes = routes
	if change != nil {
		change(&s)
	}
	built, problems := routing.Build(s, nil)
	for _, p := range problems {
		if p.Fatal {
			tb.Fatal(p)
		}
	}
	return built
}

// users is the table of most tests: /api/** of service users.
func users(tb testing.TB) *routing.Table {
	tb.Helper()
	return table(tb, nil, routing.RouteSettings{Key: "users", Path: "/api/**"})
}

// upstreamSees returns the request that reaches the upstream.
func upstreamSees(t *testing.T, c *filters.Context, specs ...filters.Spec) *http.Request {
	t.Helper()
	var seen *http.Request
	upstream := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r })
	if got := filtertest.Serve(t, c, upstream, specs...); seen == nil {
		t.Fatalf("the upstream was not asked: %d %s", got.Code, got.Body)
	}
	return seen
}

func build(t *testing.T, s pre.Settings) filters.Filter {
	t.Helper()
	f, err := pre.PreDecoration(s).New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
