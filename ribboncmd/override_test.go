package ribboncmd_test

import (
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

func TestOverride(t *testing.T) {
	scenario(t, "forced open, then taken back", quick(), func(b *bench) {
		b.times(1, succeed)
		if !b.commands.Force(service, ribboncmd.ForcedOpen) {
			b.Fatal("not found")
		}
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		if s := b.snapshot(); !s.IsOpen || s.Override != ribboncmd.ForcedOpen || s.State != ribboncmd.Closed {
			b.Errorf("%+v", s)
		}
		b.commands.Force(service, ribboncmd.NotForced)
		if _, err := b.do(succeed); err != nil {
			b.Error(err)
		}
	})
	scenario(t, "forced closed passes calls of an open circuit", quick(), func(b *bench) {
		b.trip()
		b.commands.Force(service, ribboncmd.ForcedClosed)
		b.times(3, fail)
		b.wantCalls(3)
		if b.snapshot().IsOpen {
			b.Error("shown as open")
		}
		b.commands.Force(service, ribboncmd.NotForced)
		b.wantState(ribboncmd.Open)
	})
	scenario(t, "an override outlives a reload, and wins over the settings", quick(), func(b *bench) {
		b.times(1, succeed)
		b.commands.Force(service, ribboncmd.ForcedOpen)
		b.reload(func(s *ribboncmd.Settings) { s.Breaker.ForceClosed, s.Breaker.Enabled = true, false })
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
	})
	scenario(t, "reset closes, forgets and releases", quick(), func(b *bench) {
		b.trip()
		b.commands.Force(service, ribboncmd.ForcedOpen)
		if !b.commands.Reset(service) {
			b.Fatal("not found")
		}
		b.wantState(ribboncmd.Closed)
		b.wantHealth(0, 0)
		b.times(1, succeed)
		b.wantCalls(1)
		b.tick()
		b.wantState(ribboncmd.Closed)
		b.wantHealth(1, 0)
	})
	scenario(t, "reset of a closed circuit empties its window", lenient(), func(b *bench) {
		b.times(5, fail)
		b.tick()
		b.wantHealth(5, 5)
		b.commands.Reset(service)
		b.tick()
		b.wantHealth(0, 0)
	})
	scenario(t, "reset during a trial, whose verdict comes too late", quick(), func(b *bench) {
		b.trip()
		b.sleep(250 * time.Millisecond)
		trial := b.spawn(slow(300 * time.Millisecond))
		b.wantState(ribboncmd.HalfOpen)
		b.commands.Reset(service)
		b.times(1, fail)
		b.tick()
		b.wantState(ribboncmd.Open)
		wantSuccess(b, trial)
		b.wantState(ribboncmd.Open)
	})
	scenario(t, "an idle circuit that is forced is kept", quick(), func(b *bench) {
		b.times(1, succeed)
		b.commands.Force(service, ribboncmd.ForcedOpen)
		b.sleep(time.Hour)
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
	})
	scenario(t, "unknown command", quick(), func(b *bench) {
		if b.commands.Force("other", ribboncmd.ForcedOpen) || b.commands.Reset("other") {
			b.Error("found")
		}
	})
}
