package filters_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/routing"
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
	serve := func() *filters.Context {
		fresh := filters.NewContext(c.Writer(), c.Request, routing.Path{Raw: "/users/1", Clean: "/users/1"}, time.Time{})
		chain.Serve(fresh)
		return fresh
	}
	if ran := len(serve().Executions()); ran != 8 {
		t.Fatalf("%d filters ran", ran)
	}
	const contextAndHeader = 3 // the context, the map of Out.Header and its slots
	if got := testing.AllocsPerRun(200, func() { serve() }); got != contextAndHeader {
		t.Errorf("%v allocations, want those of NewContext only: %d", got, contextAndHeader)
	}
}

func BenchmarkServe(b *testing.B) {
	chain := eightFilters(b)
	c := filtertest.New(b, "GET /users/1?x=2")
	b.ReportAllocs()
	for b.Loop() {
		chain.Serve(filters.NewContext(c.Writer(), c.Request, routing.Path{Raw: "/users/1", Clean: "/users/1"}, time.Time{}))
	}
}
