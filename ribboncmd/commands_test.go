package ribboncmd_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

func TestReload(t *testing.T) {
	scenario(t, "an open circuit and its counters survive", quick(), func(b *bench) {
		b.trip()
		b.reload(func(s *ribboncmd.Settings) { s.Breaker.RequestVolumeThreshold = 50 })
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		if n := b.snapshot().Events[ribboncmd.EventFailure]; n != 1 {
			b.Errorf("%d failures on record", n)
		}
	})
	scenario(t, "settings are not in force before the first execution", lenient(), func(b *bench) {
		b.times(5, fail)
		strict := b.settings
		strict.Breaker.RequestVolumeThreshold = 1
		cmd := b.commands.Command(service, strict, nil)
		b.tick()
		b.wantState(ribboncmd.Closed)
		other := &bench{T: b.T, cmd: cmd}
		if _, err := other.do(succeed); err != nil {
			b.Error(err)
		}
		b.tick()
		b.wantState(ribboncmd.Open)
	})
	scenario(t, "a window of another shape starts empty", lenient(), func(b *bench) {
		b.times(5, fail)
		b.tick()
		b.wantHealth(5, 5)
		b.reload(func(s *ribboncmd.Settings) { s.SnapshotInterval = 200 * time.Millisecond })
		b.times(2, succeed)
		b.tick()
		b.wantHealth(2, 0)
	})
	scenario(t, "put in force it does not wait for a call", lenient(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.SnapshotInterval, s.Window = time.Hour, 10*time.Hour })
		b.times(5, fail)
		b.reload(func(s *ribboncmd.Settings) {
			s.SnapshotInterval, s.Window = 100*time.Millisecond, 5*time.Second
			s.Breaker.ForceOpen = true
		})
		b.cmd.PutInForce()
		if !b.commands.Snapshots()[0].IsOpen {
			b.Error("not shown as open")
		}
		b.reload(func(s *ribboncmd.Settings) { s.Breaker.ForceOpen, s.Breaker.RequestVolumeThreshold = false, 1 })
		b.times(1, fail)
		b.tick() // and not at the end of the hour
		b.wantState(ribboncmd.Open)
	})
	scenario(t, "put in force it makes no command", lenient(), func(b *bench) {
		b.cmd.PutInForce()
		if n := len(b.commands.Snapshots()); n != 0 {
			b.Errorf("%d commands before the first call", n)
		}
	})
	scenario(t, "a request from before does not bring the old settings back", lenient(), func(b *bench) {
		b.times(5, fail)
		old := &bench{T: b.T, cmd: b.cmd}
		b.reload(func(s *ribboncmd.Settings) { s.SnapshotInterval = 200 * time.Millisecond })
		b.times(2, fail)
		old.times(1, succeed)
		b.sleep(200 * time.Millisecond)
		b.wantHealth(3, 2)
		if got := b.commands.Snapshots()[0].Settings.SnapshotInterval; got != 200*time.Millisecond {
			b.Errorf("interval in force is %v", got)
		}
	})
	scenario(t, "a larger pool lets waiting calls in at once", threads(1, 5, 5), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = false })
		first, second := b.spawn(slow(time.Hour)), b.spawn(slow(time.Second))
		b.reload(func(s *ribboncmd.Settings) { s.Pool.CoreSize = 2 })
		b.cmd.PutInForce()
		b.sleep(time.Second)
		if len(second) == 0 {
			b.Error("the second call still waits")
		}
		wantSuccess(b, second, first)
	})
	scenario(t, "from semaphore to pool with a call in flight", lenient(), func(b *bench) {
		old := b.spawn(slow(busy))
		b.reload(func(s *ribboncmd.Settings) { s.Isolation = ribboncmd.Thread; s.Pool.CoreSize = 1 })
		if _, err := b.do(succeed); err != nil {
			b.Error(err)
		}
		wantSuccess(b, old)
	})
}

func TestRetire(t *testing.T) {
	hour := quick()
	hour.TimeoutEnabled, hour.SnapshotInterval, hour.Window = false, time.Hour, 10*time.Hour
	left := func(b *bench, want int) {
		b.Helper()
		if n := len(b.commands.Snapshots()); n != want {
			b.Errorf("%d commands are left, want %d", n, want)
		}
	}
	scenario(t, "an open circuit goes at once", quick(), func(b *bench) {
		b.trip()
		b.commands.Retire(service)
		b.sleep(0)
		left(b, 0)
		if _, err := b.do(succeed); err != nil {
			b.Errorf("a late call: %v", err)
		}
	})
	scenario(t, "the last call is waited for", hour, func(b *bench) {
		last := b.spawn(slow(time.Minute))
		b.commands.Retire(service)
		b.sleep(59 * time.Second)
		left(b, 1)
		b.sleep(2 * time.Second)
		left(b, 0)
		wantSuccess(b, last)
	})
	scenario(t, "back before that", hour, func(b *bench) {
		last := b.spawn(slow(time.Minute))
		b.commands.Retire(service)
		b.reload(func(*ribboncmd.Settings) {})
		b.cmd.PutInForce()
		b.sleep(2 * time.Minute)
		left(b, 1)
		wantSuccess(b, last)
	})
	scenario(t, "what is forced stays", quick(), func(b *bench) {
		b.times(1, succeed)
		b.commands.Force(service, ribboncmd.ForcedOpen)
		b.commands.Retire(service)
		b.sleep(time.Minute)
		left(b, 1)
	})
	scenario(t, "unknown", quick(), func(b *bench) { b.commands.Retire("nobody") })
}

func TestIdleCommandsAreForgotten(t *testing.T) {
	scenario(t, "after ten minutes, and found again", quick(), func(b *bench) {
		b.times(1, succeed)
		b.sleep(9 * time.Minute)
		if n := len(b.commands.Snapshots()); n != 1 {
			b.Fatalf("%d commands after nine minutes", n)
		}
		b.sleep(2 * time.Minute)
		if n := len(b.commands.Snapshots()); n != 0 {
			b.Fatalf("%d commands after eleven minutes", n)
		}
		b.trip()
		if n := len(b.commands.Snapshots()); n != 1 {
			b.Fatalf("%d commands after another call", n)
		}
	})
	scenario(t, "an open circuit and a running call are kept", quick(), func(b *bench) {
		b.trip()
		s := b.settings
		s.TimeoutEnabled = false
		other := &bench{T: b.T, cmd: b.commands.Command("orders", s, nil)}
		running := other.spawn(slow(time.Hour))
		b.sleep(30 * time.Minute)
		if n := len(b.commands.Snapshots()); n != 2 {
			b.Errorf("%d commands left", n)
		}
		wantSuccess(b, running)
	})
	t.Run("C167 service ids made up by clients", func(t *testing.T) {
		commands := ribboncmd.New(nil)
		for i := range 20_001 {
			cmd := commands.Command(fmt.Sprintf("made-up-%d", i), threads(10, -1, 5), nil)
			if _, err := cmd.Execute(t.Context(), badRequest); err == nil { //nolint:bodyclose // no response
				t.Fatal("a bad request succeeded")
			}
		}
		if n := len(commands.Snapshots()); n > 10_000 {
			t.Errorf("%d commands are kept", n)
		}
	})
}

func TestEachCommandHasItsOwnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, lenient(), nil)
		s := lenient()
		s.SnapshotInterval = 250 * time.Millisecond
		other := &bench{T: t, cmd: b.commands.Command("orders", s, nil), settings: s}
		b.times(1, succeed)
		other.times(1, succeed)
		for _, step := range []struct{ fast, slow int64 }{{1, 0}, {1, 0}, {1, 1}} {
			b.tick()
			b.wantHealth(step.fast, 0)
			other.wantHealth(step.slow, 0)
		}
	})
}

func TestValidate(t *testing.T) {
	if err := ribboncmd.DefaultSettings().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	tests := map[string]func(*ribboncmd.Settings){
		"timeout is not positive":                        func(s *ribboncmd.Settings) { s.Timeout = 0 },
		"max concurrent requests is negative":            func(s *ribboncmd.Settings) { s.MaxConcurrent = -1 },
		"max concurrent fallbacks is negative":           func(s *ribboncmd.Settings) { s.Fallback.MaxConcurrent = -1 },
		"pool core size is below 1":                      func(s *ribboncmd.Settings) { s.Pool.CoreSize = 0 },
		"request volume threshold is negative":           func(s *ribboncmd.Settings) { s.Breaker.RequestVolumeThreshold = -1 },
		"error threshold percentage is negative":         func(s *ribboncmd.Settings) { s.Breaker.ErrorThresholdPercentage = -1 },
		"sleep window is negative":                       func(s *ribboncmd.Settings) { s.Breaker.SleepWindow = -1 },
		"health snapshot interval is not positive":       func(s *ribboncmd.Settings) { s.SnapshotInterval = 0 },
		"rolling window is shorter than the health snap": func(s *ribboncmd.Settings) { s.Window = time.Millisecond },
	}
	for want, spoil := range tests {
		s := ribboncmd.DefaultSettings()
		spoil(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestParseIsolation(t *testing.T) {
	for _, want := range []ribboncmd.Isolation{ribboncmd.Semaphore, ribboncmd.Thread} {
		if got, err := ribboncmd.ParseIsolation(want.String()); got != want || err != nil {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	if _, err := ribboncmd.ParseIsolation("FIBER"); err == nil {
		t.Error("FIBER is accepted")
	}
}
