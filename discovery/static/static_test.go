package static_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/static"
	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func users(id string) discovery.Update {
	return discovery.Update{"users": {{ID: id, Service: "users", Host: "h", Port: 80}}}
}

func TestReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := static.New(users("1"))
		ctx, cancel := context.WithCancel(t.Context())
		updates, ended := make(chan discovery.Update), make(chan error)
		go func() { ended <- s.Run(ctx, updates) }()
		expect := func(id string) {
			t.Helper()
			if diff := cmp.Diff(users(id), <-updates); diff != "" {
				t.Error(diff)
			}
			synctest.Wait()
			select {
			case u := <-updates:
				t.Errorf("a second report: %v", u)
			default:
			}
		}
		expect("1")
		s.Replace(users("2"))
		expect("2")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Only the last replacement counts for a source that has not started yet.
func TestReplaceBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := static.New(users("1"))
		s.Replace(users("2"))
		s.Replace(users("3"))
		updates := make(chan discovery.Update)
		go func() { _ = s.Run(t.Context(), updates) }()
		if diff := cmp.Diff(users("3"), <-updates); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStopsWhileNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- static.New(users("1")).Run(ctx, make(chan discovery.Update)) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
