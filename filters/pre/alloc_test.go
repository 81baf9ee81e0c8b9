package pre_test

import (
	"net/netip"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/pre"
	"github.com/gozer-gateway/gozer/internal/race"
)

// decorate lets f decorate a request like that of c, and check look at it.
func decorate(tb testing.TB, lent *filters.Contexts, f filters.Filter, trust *filters.Trust, like *filters.Context, check func(*filters.Context)) {
	tb.Helper()
	c := lent.New(like.Writer(), like.Request, like.Path, like.Start)
	defer lent.Recycle(c)
	_ = trust.Judge(c)
	if !f.ShouldFilter(c) {
		tb.Fatal("it stands aside")
	}
	if err := f.Run(c); err != nil {
		tb.Fatal(err)
	}
	check(c)
}

func TestPreDecorationAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	tests := map[string]struct {
		settings pre.Settings
		trusted  string
		want     float64
	}{
		"no proxy headers":                    {pre.Settings{}, "", 0},
		"proxy headers, nobody trusted":       {pre.Settings{AddProxyHeaders: true, SensitiveHeaders: []string{"Cookie"}}, "", 0},
		"proxy headers, peer is trusted":      {pre.Settings{AddProxyHeaders: true}, "5.6.7.8/32", 0},
		"proxy and host headers, ignored too": {pre.Settings{AddProxyHeaders: true, AddHostHeader: true, IgnoredHeaders: []string{"X-A"}}, "", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.settings.Table = users(t)
			f := build(t, test.settings)
			c := filtertest.New(t, "GET http://g.test:8080/api/users/1?x=2", filtertest.RemoteAddr(client))
			var lent filters.Contexts
			trust := &filters.Trust{MaxHops: 64}
			if test.trusted != "" {
				trust.Proxies = []netip.Prefix{netip.MustParsePrefix(test.trusted)}
			}
			check := func(c *filters.Context) {
				if test.settings.AddProxyHeaders && c.Out.Header[xfHost][0] != "g.test:8080" {
					t.Error("it did not do its work")
				}
			}
			if got := testing.AllocsPerRun(200, func() { decorate(t, &lent, f, trust, c, check) }); got != test.want {
				t.Errorf("%v allocations, want %v", got, test.want)
			}
		})
	}
}

func TestDebugAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	f, err := pre.Debug(pre.DebugSettings{}).New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := filtertest.New(t, "GET /api/1?x=1&y=a%20b&debug=false")
	if got := testing.AllocsPerRun(200, func() {
		if f.ShouldFilter(c) {
			t.Error("it would debug")
		}
	}); got > 0 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkPreDecoration(b *testing.B) {
	f, err := pre.PreDecoration(pre.Settings{
		Table: users(b), AddProxyHeaders: true, SensitiveHeaders: []string{"Cookie", "Set-Cookie", "Authorization"},
	}).New(nil)
	if err != nil {
		b.Fatal(err)
	}
	c := filtertest.New(b, "GET http://g.test:8080/api/users/1?x=2", filtertest.RemoteAddr(client))
	var lent filters.Contexts
	b.ReportAllocs()
	for b.Loop() {
		decorate(b, &lent, f, nil, c, func(*filters.Context) {})
	}
}
