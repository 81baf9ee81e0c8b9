package filters_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
)

// takes makes a filter that runs for d and then returns err.
func takes(name string, phase filters.Phase, order int, d time.Duration, err error) filters.Spec {
	return filters.Func(name, phase, order, func(c *filters.Context) error {
		select {
		case <-time.After(d):
			return err
		case <-c.Request.Context().Done():
			return c.Request.Context().Err()
		}
	})
}

type never struct{}

func (never) ShouldFilter(*filters.Context) bool { return false }
func (never) Run(*filters.Context) error         { return errBoom }

// ledger is a chain with a filter of every status.
func ledger(t *testing.T) *filters.Chain {
	t.Helper()
	chain, err := filters.NewChain([]filters.Spec{
		takes("Slow", filters.Pre, 1, 12*time.Millisecond, nil),
		filters.Instance("Never", filters.Pre, 2, never{}),
		filters.Instance("Off", filters.Pre, 3, fickle{}),
		takes("Broken", filters.Route, 1, 1500*time.Microsecond, errBoom),
		filters.Instance("Fickle", filters.Error, 0, fickle{}),
	}, filters.Settings{Disabled: func(name string, _ filters.Phase) bool { return name == "Off" }})
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

func TestExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := filtertest.New(t, "GET /")
		ledger(t).Serve(c)
		got := make([]string, 0, len(c.Executions()))
		for _, e := range c.Executions() {
			got = append(got, e.String())
		}
		want := "Slow[SUCCESS][12ms], Broken[FAILED][1ms], Fickle[FAILED][0ms]"
		if list := strings.Join(got, ", "); list != want {
			t.Errorf("got  %s\nwant %s", list, want)
		}
	})
}

func TestFilterCounts(t *testing.T) {
	type counts struct {
		Success, Skipped, Disabled, Failed int64
		Took                               time.Duration
	}
	synctest.Test(t, func(t *testing.T) {
		chain := ledger(t)
		for range 2 {
			chain.Serve(filtertest.New(t, "GET /"))
		}
		for _, test := range []struct {
			phase filters.Phase
			name  string
			want  counts
		}{
			{filters.Pre, "Slow", counts{Success: 2, Took: 24 * time.Millisecond}},
			{filters.Pre, "Never", counts{Skipped: 2}},
			{filters.Pre, "Off", counts{Disabled: 2}},
			{filters.Route, "Broken", counts{Failed: 2, Took: 3 * time.Millisecond}},
			{filters.Error, "Fickle", counts{Failed: 2}},
		} {
			f := chain.Meter().Filter(test.phase, test.name)
			got := counts{f.Success.Load(), f.Skipped.Load(), f.Disabled.Load(), f.Failed.Load(), f.Took()}
			if got != test.want {
				t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
			}
		}
	})
}

func TestMeterOutlivesChains(t *testing.T) {
	meter := filters.NewMeter()
	for range 2 {
		chain, err := filters.NewChain([]filters.Spec{filters.Func("F", filters.Pre, 0, nothing)}, filters.Settings{Meter: meter})
		if err != nil {
			t.Fatal(err)
		}
		chain.Serve(filtertest.New(t, "GET /"))
	}
	if got := meter.Filter(filters.Pre, "F").Success.Load(); got != 2 {
		t.Errorf("counted %d", got)
	}
}

func TestStatusNumbers(t *testing.T) {
	for status, want := range map[filters.Status]string{1: "SUCCESS", -1: "SKIPPED", -2: "DISABLED", -3: "FAILED", 7: "Status(7)"} {
		if got := status.String(); got != want {
			t.Errorf("%d is %s, want %s", status, got, want)
		}
	}
}

func TestErrorCounters(t *testing.T) {
	t.Run("zuul 149", func(t *testing.T) {
		m := filters.NewMeter()
		for range 2 {
			m.CountError("cause", 500)
		}
		for range 3 {
			m.CountError("cause2", 404)
		}
		want := map[string]int64{"ZUUL::EXCEPTION:cause:500": 2, "ZUUL::EXCEPTION:cause2:404": 3}
		if diff := cmp.Diff(want, m.Errors()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("zuul 148 cause of a failure without a status", func(t *testing.T) {
		for _, phase := range []filters.Phase{filters.Pre, filters.Route} {
			fail := filters.Func("Fail", phase, 0, func(*filters.Context) error { return errBoom })
			failure, _ := errors.AsType[*filters.FilterError](filtertest.Run(t, filtertest.New(t, "GET /"), fail))
			m := filters.NewMeter()
			m.CountError(failure.Cause(), 500)
			if diff := cmp.Diff(map[string]int64{"ZUUL::EXCEPTION:" + string(phase) + ":Fail:500": 1}, m.Errors()); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("a cause per request does not fill the memory", func(t *testing.T) {
		m := filters.NewMeter()
		for i := range 10_000 {
			m.CountError("cause "+strconv.Itoa(i), 500)
		}
		if kinds := len(m.Errors()); kinds > 300 || m.Errors()["ZUUL::EXCEPTION:other:500"] < 9_000 {
			t.Errorf("%d kinds of errors, %d others", kinds, m.Errors()["ZUUL::EXCEPTION:other:500"])
		}
	})
}
