package filters_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
)

func nothing(*filters.Context) error { return nil }

func TestOrder(t *testing.T) {
	j := &journal{}
	err := filtertest.Run(t, filtertest.New(t, "GET /"),
		j.filter("late", filters.Pre, 1000),
		j.filter("tie b", filters.Pre, 5), j.filter("tie a", filters.Pre, 5), j.filter("tie c", filters.Pre, 5),
		j.filter("route", filters.Route, -100),
		j.filter("early", filters.Pre, -3),
		j.filter("zero", filters.Pre, 0))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"early", "zero", "tie b", "tie a", "tie c", "late", "route"}, j.events); diff != "" {
		t.Error(diff)
	}
}

func TestTiesRunInOrderOfRegistration(t *testing.T) {
	j := &journal{}
	const orders = 3
	var specs []filters.Spec
	var want [orders][]string
	for i := range 60 { // enough for an unstable sort to show
		name, order := fmt.Sprintf("F%d", i), i%orders
		specs, want[order] = append(specs, j.filter(name, filters.Pre, order)), append(want[order], name)
	}
	if err := filtertest.Run(t, filtertest.New(t, "GET /"), specs...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Concat(want[:]...), j.events); diff != "" {
		t.Error(diff)
	}
}

func TestNewChainReportsEveryBadSpec(t *testing.T) {
	specs := []filters.Spec{
		filters.Func("", filters.Pre, 0, nothing),
		filters.Func("NoPhase", "", 0, nothing),
		{Name: "NoConstructor", Phase: filters.Pre},
		filters.Func("Good", filters.Pre, 0, nothing),
		filters.Func("Twice", filters.Pre, 0, nothing),
		filters.Func("Twice", filters.Pre, 9, nothing),
		filters.Func("Twice", filters.Post, 9, nothing),
		{Name: "BadSettings", Phase: filters.Post, New: func(decode func(any) error) (filters.Filter, error) {
			return nil, decode(&struct{}{})
		}},
		{Name: "NoFilter", Phase: filters.Post, New: func(func(any) error) (filters.Filter, error) { return nil, nil }},
	}
	decode := func(name string, _ any) error { return fmt.Errorf("gateway.filters.%s.colour: unknown key", name) }
	chain, err := filters.NewChain(specs, filters.Settings{Decode: decode})
	if chain != nil || err == nil {
		t.Fatalf("chain %v, error %v", chain, err)
	}
	want := []string{
		`filters: spec "" of phase "pre" needs a name, a phase and New`,
		`filters: spec "NoPhase" of phase "" needs a name, a phase and New`,
		`filters: spec "NoConstructor" of phase "pre" needs a name, a phase and New`,
		`filters: two filters are named "Twice" in phase "pre"`,
		`filters: BadSettings: gateway.filters.BadSettings.colour: unknown key`,
		`filters: NoFilter: New returned no filter`,
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestDisabledFilters(t *testing.T) {
	t.Run("zuul 159 by name and phase", func(t *testing.T) {
		j := &journal{}
		disabled := map[string]bool{"zuul.TestZuulFilter.pre.disable": true}
		chain, err := filters.NewChain([]filters.Spec{
			j.filter("TestZuulFilter", filters.Pre, 0),
			j.filter("testzuulfilter", filters.Pre, 1),
			filters.Instance("TestZuulFilter", filters.Post, 0, fickle{}),
		}, filters.Settings{Disabled: func(name string, phase filters.Phase) bool {
			return disabled["zuul."+name+"."+string(phase)+".disable"]
		}})
		if err != nil {
			t.Fatal(err)
		}
		c := filtertest.New(t, "GET /")
		chain.Serve(c)
		if diff := cmp.Diff([]string{"testzuulfilter"}, j.events); diff != "" {
			t.Error(diff)
		}
		if _, ok := errors.AsType[*filters.PanicError](c.Err); !ok {
			t.Errorf("the post filter of the same name did not run: %v", c.Err)
		}
	})
	t.Run("before ShouldFilter is asked", func(t *testing.T) {
		chain, err := filters.NewChain([]filters.Spec{filters.Instance("Fickle", filters.Pre, 0, fickle{})},
			filters.Settings{Disabled: func(string, filters.Phase) bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
		c := filtertest.New(t, "GET /")
		chain.Serve(c)
		if c.Err != nil || len(c.Executions()) != 0 {
			t.Errorf("err %v, executions %v", c.Err, c.Executions())
		}
	})
}

func TestFilterSettings(t *testing.T) {
	type settings struct {
		Text  string
		Limit int
	}
	build := func(t *testing.T, decode func(string, any) error) settings {
		t.Helper()
		got := settings{Text: "default", Limit: 3}
		spec := filters.Spec{Name: "Banner", Phase: filters.Pre, New: func(decode func(any) error) (filters.Filter, error) {
			return fickle{}, decode(&got)
		}}
		if _, err := filters.NewChain([]filters.Spec{spec}, filters.Settings{Decode: decode}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	t.Run("by the filter's name, over its defaults", func(t *testing.T) {
		got := build(t, func(name string, into any) error {
			s, ok := into.(*settings)
			if name != "Banner" || !ok {
				return fmt.Errorf("asked for %s into %T", name, into)
			}
			s.Text = "configured"
			return nil
		})
		if got != (settings{"configured", 3}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("no settings at all", func(t *testing.T) {
		if got := build(t, nil); got != (settings{"default", 3}) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestCustomPhase(t *testing.T) {
	const healthcheck filters.Phase = "healthcheck"
	t.Run("runs only when asked for", func(t *testing.T) {
		j := &journal{}
		if err := filtertest.Run(t, filtertest.New(t, "GET /"), j.filter("check", healthcheck, 0), j.filter("pre", filters.Pre, 0)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"pre"}, j.events); diff != "" {
			t.Error(diff)
		}
	})
	ask := filters.Func("Ask", filters.Pre, 0, func(c *filters.Context) error { return c.RunPhase(healthcheck) })
	t.Run("in order", func(t *testing.T) {
		j := &journal{}
		c := filtertest.New(t, "GET /")
		if err := filtertest.Run(t, c, ask, j.filter("second", healthcheck, 2), j.filter("first", healthcheck, 1)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"first", "second"}, j.events); diff != "" {
			t.Error(diff)
		}
		if len(c.Executions()) != 3 || c.Executions()[2].Filter != "Ask" {
			t.Errorf("executions %v", c.Executions())
		}
	})
	t.Run("a failure comes back", func(t *testing.T) {
		j := &journal{failing: []string{"first"}, err: errBoom}
		err := filtertest.Run(t, filtertest.New(t, "GET /"), ask, j.filter("first", healthcheck, 1), j.filter("second", healthcheck, 2))
		if !errors.Is(err, errBoom) || len(j.events) != 1 {
			t.Errorf("err %v, ran %v", err, j.events)
		}
	})
	t.Run("without a chain there is nothing to run", func(t *testing.T) {
		if err := filtertest.New(t, "GET /").RunPhase(healthcheck); err != nil {
			t.Error(err)
		}
	})
}

func TestPhaseWithinItselfEnds(t *testing.T) {
	again := filters.Func("Again", filters.Pre, 0, func(c *filters.Context) error { return c.RunPhase(filters.Pre) })
	err := filtertest.Run(t, filtertest.New(t, "GET /"), again)
	if err == nil || !strings.Contains(err.Error(), "runs within itself") {
		t.Errorf("error %v, want one about the depth", err)
	}
}

func TestFiltersLists(t *testing.T) {
	chain, err := filters.NewChain([]filters.Spec{
		filters.Func("Second", filters.Pre, 2, nothing),
		filters.Instance("First", filters.Pre, 1, fickle{}),
		filters.Func("Sample", "sample", 0, nothing),
		filters.Func("Handle", filters.Error, 0, nothing),
	}, filters.Settings{Disabled: func(name string, _ filters.Phase) bool { return name == "Handle" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("zuul 151 custom phases too, by phase and order", func(t *testing.T) {
		want := []filters.Info{
			{Name: "Handle", Phase: "error", Type: "filters.always", Disabled: true},
			{Name: "First", Phase: "pre", Order: 1, Type: "filters_test.fickle"},
			{Name: "Second", Phase: "pre", Order: 2, Type: "filters.always"},
			{Name: "Sample", Phase: "sample", Type: "filters.always"},
		}
		if diff := cmp.Diff(want, chain.Filters()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the list belongs to the caller", func(t *testing.T) {
		chain.Filters()[0].Name = "changed"
		if got := chain.Filters()[0].Name; got != "Handle" {
			t.Errorf("the chain lists %q now", got)
		}
	})
}
