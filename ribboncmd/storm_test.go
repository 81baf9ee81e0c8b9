package ribboncmd_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// TestStorm lets ten thousand callers loose at once, over changes of state, of
// settings and by operators, with the real scheduler. Whatever happens, all
// permits, places and trial slots come back, every execution has one outcome, and
// the circuit works as before.
func TestStorm(t *testing.T) {
	t.Run("Q12 ten thousand callers", func(t *testing.T) {
		const callers = 10_000
		s := ribboncmd.DefaultSettings()
		s.Timeout, s.MaxConcurrent = 3*time.Millisecond, 50
		s.Window, s.SnapshotInterval, s.Buckets = 4*time.Millisecond, time.Millisecond, 4
		s.Breaker.SleepWindow, s.Breaker.RequestVolumeThreshold = time.Millisecond, 5
		var changes atomic.Int64
		commands := ribboncmd.New(func(ribboncmd.Transition) { changes.Add(1) })
		commands.Configure(settingsInTurn(s))
		ctx, cancel := context.WithCancel(ribboncmd.NewContext(t.Context(), commands))
		defer cancel()
		var background, wg sync.WaitGroup
		background.Go(func() { commands.Run(ctx) })
		background.Go(func() { meddle(ctx, commands, s) })

		call := func(i int) {
			if i%2 == 0 {
				_, _ = commands.Command("geo", s, answer("spare")).Execute(ctx, chaos) //nolint:bodyclose // nothing to close
				return
			}
			key := ribboncmd.Key{Command: "geo", Group: "maps"}
			_, _ = ribboncmd.Do(ctx, key, func(ctx context.Context) (*http.Response, error) { return chaos(ctx) }, nil) //nolint:bodyclose // nothing to close
		}
		gate := make(chan struct{})
		for i := range callers {
			wg.Go(func() {
				<-gate
				call(i)
			})
		}
		close(gate)
		wg.Wait()
		executions := callers
		for ; changes.Load() == 0; executions++ { // the storm was over before anybody judged it
			call(executions)
		}
		wantCalm(t, commands, int64(executions))
		wantWorking(t, ctx, commands, s)
		cancel()
		background.Wait()
	})
}

// settingsInTurn gives each generation another bulkhead.
func settingsInTurn(s ribboncmd.Settings) func(ribboncmd.Key) ribboncmd.Settings {
	pooled := s
	pooled.Isolation, pooled.Pool.CoreSize, pooled.Pool.MaxQueueSize = ribboncmd.Thread, 20, 10
	pooled.Pool.Key = ""
	return func(ribboncmd.Key) ribboncmd.Settings { return pooled }
}

// meddle is an operator and a hand at the configuration.
func meddle(ctx context.Context, commands *ribboncmd.Commands, s ribboncmd.Settings) {
	for ctx.Err() == nil {
		switch rand.IntN(5) {
		case 0:
			commands.Reset("geo")
		case 1:
			commands.Force("geo", ribboncmd.ForcedOpen)
		case 2:
			commands.Force("geo", ribboncmd.ForcedClosed)
		case 3:
			commands.Force("geo", ribboncmd.NotForced)
		case 4:
			commands.Configure(settingsInTurn(s))
		}
		_, _ = commands.Snapshots(), commands.Pools()
		<-time.After(100 * time.Microsecond)
	}
}

// wantCalm waits for late calls, then looks for what was not given back.
func wantCalm(t *testing.T, commands *ribboncmd.Commands, executions int64) {
	t.Helper()
	var got ribboncmd.Snapshot
	var pools []ribboncmd.PoolSnapshot
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		got, pools = commands.Snapshots()[0], commands.Pools()
		if got.Concurrent == 0 && (len(pools) == 0 || pools[0].Active == 0) {
			break
		}
	}
	if got.Concurrent != 0 || got.Fallbacks != 0 || got.Waiting != 0 {
		t.Errorf("%d running, %d in fallback, %d waiting", got.Concurrent, got.Fallbacks, got.Waiting)
	}
	for _, p := range pools {
		if p.Active != 0 || p.Waiting != 0 {
			t.Errorf("pool %s: %d active, %d waiting", p.Key, p.Active, p.Waiting)
		}
	}
	var ended int64
	for e := ribboncmd.EventSuccess; e <= ribboncmd.EventCancelled; e++ {
		ended += got.Events[e]
	}
	if ended != executions {
		t.Errorf("%d outcomes of %d executions", ended, executions)
	}
}

// wantWorking trips the circuit and closes it again.
func wantWorking(t *testing.T, ctx context.Context, commands *ribboncmd.Commands, s ribboncmd.Settings) { //nolint:revive // t comes first in helpers
	t.Helper()
	s.Timeout = time.Minute
	cmd := commands.Command("geo", s, nil)
	down := func(context.Context) (*http.Response, error) { return nil, errBoom }
	for deadline := time.Now().Add(10 * time.Second); ; {
		commands.Force("geo", ribboncmd.NotForced)
		_, err := cmd.Execute(ctx, down) //nolint:bodyclose // there is none
		if errors.Is(err, ribboncmd.ErrShortCircuited) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the circuit does not open any more")
		}
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		commands.Force("geo", ribboncmd.NotForced)
		if _, err := cmd.Execute(ctx, succeed); err == nil { //nolint:bodyclose // nothing to close
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the circuit does not close any more: a trial slot is lost")
		}
	}
}
