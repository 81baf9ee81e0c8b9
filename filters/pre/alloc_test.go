package pre_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/pre"
	"github.com/gozer-gateway/gozer/internal/race"
)

// decorateAgain undoes what decoration did and decorates once more.
func decorateAgain(tb testing.TB, f filters.Filter, c *filters.Context) {
	tb.Helper()
	c.ServiceID = ""
	for _, name := range [...]string{xfFor, xfHost, xfPort, xfProto, xfPrefix} {
		delete(c.Out.Header, name)
	}
	if !f.ShouldFilter(c) {
		tb.Fatal("it stands aside")
	}
	if err := f.Run(c); err != nil {
		tb.Fatal(err)
	}
}

func TestPreDecorationAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	tests := map[string]struct {
		settings pre.Settings
		want     float64
	}{
		"no proxy headers":                    {pre.Settings{}, 0},
		"proxy headers, nobody trusted":       {pre.Settings{AddProxyHeaders: true, SensitiveHeaders: []string{"Cookie"}}, 1},
		"proxy headers, peer is trusted":      {pre.Settings{AddProxyHeaders: true, TrustedProxies: trustClient()}, 1},
		"proxy and host headers, ignored too": {pre.Settings{AddProxyHeaders: true, AddHostHeader: true, IgnoredHeaders: []string{"X-A"}}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.settings.Table = users(t)
			f := build(t, test.settings)
			c := filtertest.New(t, "GET http://g.test:8080/api/users/1?x=2", filtertest.RemoteAddr(client))
			decorateAgain(t, f, c)
			if got := testing.AllocsPerRun(200, func() { decorateAgain(t, f, c) }); got != test.want {
				t.Errorf("%v allocations, want %v", got, test.want)
			}
			if test.settings.AddProxyHeaders && c.Out.Header.Get(xfHost) != "g.test:8080" {
				t.Error("it did not do its work")
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
	b.ReportAllocs()
	for b.Loop() {
		decorateAgain(b, f, c)
	}
}
