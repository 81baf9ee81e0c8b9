package filters_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/internal/race"
)

func eightFilters(tb testing.TB) *filters.Chain {
	tb.Helper()
	phases := []filters.Phase{filters.Pre, filters.Pre, filters.Pre, filters.Route, filters.Route, filters.Post, filters.Post, filters.Post}
	specs := make([]filters.Spec, 0, len(phases)+1)
	for i, phase := range phases {
		specs = append(specs, filters.Func(fmt.Sprintf("F%d", i), phase, i, nothing))
	}
	chain, err := filters.NewChain(append(specs, filters.Instance("Never", filters.Pre, 9, never{})), filters.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	return chain
}

func TestServeAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	chain := eightFilters(t)
	c := filtertest.New(t, "GET /users/1?x=2", filtertest.Header("Accept", "*/*"))
	var lent filters.Contexts
	if got := testing.AllocsPerRun(200, func() { serve(t, &lent, chain, c) }); got > 0 {
		t.Errorf("%v allocations", got)
	}
}

// serve sends a request like that of another context through a chain of eight.
func serve(tb testing.TB, lent *filters.Contexts, chain *filters.Chain, like *filters.Context) {
	tb.Helper()
	c := lent.New(like.Writer(), like.Request, like.Path, time.Time{})
	defer lent.Recycle(c)
	chain.Serve(c)
	if ran := len(c.Executions()); ran != 8 {
		tb.Fatalf("%d filters ran", ran)
	}
}

func BenchmarkServe(b *testing.B) {
	chain := eightFilters(b)
	c := filtertest.New(b, "GET /users/1?x=2")
	var lent filters.Contexts
	b.ReportAllocs()
	for b.Loop() {
		serve(b, &lent, chain, c)
	}
}
