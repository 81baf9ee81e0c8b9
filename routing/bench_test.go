package routing_test

import (
	"fmt"
	"testing"

	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/routing"
)

// large is a table of n routes in the shapes that configurations have, and a catch-all.
func large(tb testing.TB, n int) *routing.Table {
	tb.Helper()
	s := settings(route("all", "/**", ""))
	for i := range n {
		path := [...]string{"/svc%d/**", "/api/v1/thing%d/**", "/t/*/thing%d/{id}", "/**/deep%d/x", "/pre%d*/y", "/exact/%d"}[i%6]
		s.Routes = append(s.Routes, route(fmt.Sprintf("r%d", i), fmt.Sprintf(path, i), "svc"))
	}
	table, problems := routing.Build(s, nil)
	if len(problems) > 0 {
		tb.Fatal(problems[0])
	}
	return table
}

// samples are requests for a table of 100,000 routes and the routes they find.
func samples() [][2]string {
	return [][2]string{
		{"/svc60000/orders/17", "r60000"},
		{"/api/v1/thing60001/orders/17", "r60001"},
		{"/t/acme/thing60002/5", "r60002"},
		{"/a/b/deep60003/x", "r60003"},
		{"/pre60004tail/y", "r60004"},
		{"/exact/60005", "r60005"},
		{"/no/such/path/here", "all"},
	}
}

func BenchmarkMatch100k(b *testing.B) {
	table := large(b, 100_000)
	for _, sample := range samples() {
		b.Run(sample[1], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := routing.ParsePath(sample[0], usual)
				if err != nil {
					b.Fatal(err)
				}
				if m, found := table.Match(p); !found || m.Route.ID != sample[1] {
					b.Fatalf("got %+v", m)
				}
			}
		})
	}
}

func TestMatchAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	table := large(t, 100_000)
	for _, sample := range samples() {
		p := parse(t, sample[0], usual)
		got := testing.AllocsPerRun(100, func() {
			if m, found := table.Match(p); !found || m.Route.ID != sample[1] {
				t.Fatalf("%s: got %+v", sample[0], m)
			}
		})
		if got > 0 {
			t.Errorf("%s: %v allocations", sample[0], got)
		}
	}
}
