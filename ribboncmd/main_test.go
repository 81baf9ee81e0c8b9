package ribboncmd_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/internal/leaktest"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const service = "users"

var errBoom = errors.New("boom")

// bench is a running registry with one command on it.
type bench struct {
	*testing.T

	commands *ribboncmd.Commands
	cmd      *ribboncmd.Command
	settings ribboncmd.Settings
	provider fallback.Provider
	calls    atomic.Int64 // that reached upstream
}

// quick are the settings of Hystrix's own breaker tests.
func quick() ribboncmd.Settings {
	s := ribboncmd.DefaultSettings()
	s.Timeout = 550 * time.Millisecond // never at the same moment as a snapshot
	s.SnapshotInterval = 100 * time.Millisecond
	s.Window = 5 * time.Second
	s.Breaker.ErrorThresholdPercentage = 40
	s.Breaker.RequestVolumeThreshold = 1
	s.Breaker.SleepWindow = 200 * time.Millisecond
	return s
}

// lenient are quick settings under which no circuit opens.
func lenient() ribboncmd.Settings {
	s := quick()
	s.Breaker.RequestVolumeThreshold = 1000
	return s
}

// start must be called inside a synctest bubble, which it leaves clean.
func start(t *testing.T, s ribboncmd.Settings, provider fallback.Provider) *bench {
	t.Helper()
	b := &bench{T: t, commands: ribboncmd.New(nil), settings: s, provider: provider}
	go b.commands.Run(t.Context())
	b.reload(func(*ribboncmd.Settings) {})
	t.Cleanup(func() {
		if n := b.snapshot().Concurrent; n != 0 {
			t.Errorf("%d calls still counted as running", n)
		}
		if n := b.snapshot().Fallbacks; n != 0 {
			t.Errorf("%d fallbacks still counted as running", n)
		}
	})
	return b
}

// reload replaces the command by one with changed settings.
func (b *bench) reload(change func(*ribboncmd.Settings)) {
	change(&b.settings)
	b.cmd = b.commands.Command(service, b.settings, b.provider)
}

// do executes the command and returns the body of the response.
func (b *bench) do(run ribboncmd.Run) (string, error) { return b.doContext(b.Context(), run) }

func (b *bench) doContext(ctx context.Context, run ribboncmd.Run) (string, error) {
	resp, err := b.cmd.Execute(ctx, func(ctx context.Context) (*http.Response, error) {
		b.calls.Add(1)
		return run(ctx)
	})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var text strings.Builder
	_, err = io.Copy(&text, resp.Body)
	return text.String(), err
}

// spawn executes the command in the background.
func (b *bench) spawn(run ribboncmd.Run) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := b.do(run)
		done <- err
	}()
	synctest.Wait()
	return done
}

func (b *bench) times(n int, run ribboncmd.Run) {
	for range n {
		_, _ = b.do(run)
	}
}

// tick lets the next health snapshot happen.
func (b *bench) tick() { b.sleep(b.settings.SnapshotInterval) }

func (b *bench) sleep(d time.Duration) {
	wait(d)
	synctest.Wait()
}

func (b *bench) snapshot() ribboncmd.Snapshot { return b.cmd.Snapshot() }

func (b *bench) wantState(want ribboncmd.State) {
	b.Helper()
	if got := b.snapshot().State; got != want {
		b.Fatalf("circuit is %v, want %v", got, want)
	}
}

func (b *bench) wantHealth(total, errs int64) {
	b.Helper()
	if s := b.snapshot(); s.Requests != total || s.Errors != errs {
		b.Errorf("health is %d,%d, want %d,%d", s.Requests, s.Errors, total, errs)
	}
}

// wantEvents compares all events, EXCEPTION_THROWN aside.
func (b *bench) wantEvents(want ...ribboncmd.Event) {
	b.Helper()
	counts := map[ribboncmd.Event]int64{}
	for _, e := range want {
		counts[e]++
	}
	got := b.snapshot().Events
	delete(got, ribboncmd.EventExceptionThrown)
	if len(got) != len(counts) {
		b.Errorf("events are %v, want %v", got, counts)
		return
	}
	for e, n := range counts {
		if got[e] != n {
			b.Errorf("events are %v, want %v", got, counts)
		}
	}
}

// wantError checks the type of an error and its outcome.
func wantError(tb testing.TB, err error, outcome ribboncmd.Outcome) *ribboncmd.Error {
	tb.Helper()
	var e *ribboncmd.Error
	if !errors.As(err, &e) {
		tb.Fatalf("error is %v, want outcome %v", err, outcome)
	}
	if e.Outcome != outcome || e.Service != service {
		tb.Fatalf("error is %v (%v), want outcome %v", e, e.Outcome, outcome)
	}
	return e
}

func wantOutcome(tb testing.TB, err error, outcome ribboncmd.Outcome) {
	tb.Helper()
	_ = wantError(tb, err, outcome)
}

// wantSuccess waits for calls in the background.
func wantSuccess(tb testing.TB, calls ...<-chan error) {
	tb.Helper()
	for _, c := range calls {
		if err := <-c; err != nil {
			tb.Error(err)
		}
	}
}

// wait lets fake time pass.
func wait(d time.Duration) { <-time.After(d) }

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func succeed(context.Context) (*http.Response, error) { return response(http.StatusOK, "ok"), nil }

func fail(context.Context) (*http.Response, error) { return nil, errBoom }

// slow answers after d, or not at all once its context ends.
func slow(d time.Duration) ribboncmd.Run {
	return func(ctx context.Context) (*http.Response, error) {
		select {
		case <-time.After(d):
			return succeed(ctx)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// stubborn answers after d, whatever becomes of its context.
func stubborn(d time.Duration) ribboncmd.Run {
	return func(ctx context.Context) (*http.Response, error) {
		wait(d)
		return succeed(ctx)
	}
}

var hang = slow(time.Hour)

// answer is a provider of a constant text.
func answer(text string) fallback.Provider {
	return &fallback.Static{Status: http.StatusOK, Body: []byte(text)}
}

func failing(err error) fallback.Provider {
	return fallback.Func(func(context.Context, string, error) (*http.Response, error) { return nil, err })
}
