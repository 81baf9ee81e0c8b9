package ribboncmd_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// since measures in whole milliseconds of fake time.
func since(start time.Time) time.Duration { return time.Since(start).Round(time.Millisecond) }

func TestDeadline(t *testing.T) {
	const timeout = 550 * time.Millisecond
	scenario(t, "hystrix 24 timeout without fallback", lenient(), func(b *bench) {
		began := time.Now()
		_, err := b.do(hang)
		wantOutcome(b, err, ribboncmd.Timeout)
		if !errors.Is(err, ribboncmd.ErrTimeout) || since(began) != timeout {
			b.Errorf("%v after %v", err, since(began))
		}
		b.wantEvents(ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
	})
	t.Run("hystrix 21 and 23 the provider sees the timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), causeTeller)
			began := time.Now()
			if got, _ := b.do(hang); got != "users TIMEOUT boom=false" || since(began) != timeout {
				t.Errorf("got %q after %v", got, since(began))
			}
		})
	})
	scenario(t, "hystrix 27 C122 late response is closed", lenient(), func(b *bench) {
		late := &trackedBody{Reader: strings.NewReader("late")}
		_, err := b.do(func(context.Context) (*http.Response, error) {
			wait(2 * timeout)
			return &http.Response{StatusCode: http.StatusOK, Body: late}, nil
		})
		wantOutcome(b, err, ribboncmd.Timeout)
		if !late.closed {
			b.Error("late response was left open")
		}
		b.wantEvents(ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
	})
	scenario(t, "hystrix 28 timeout disabled", lenient(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = false })
		if got, err := b.do(slow(900 * time.Millisecond)); got != "ok" || err != nil {
			b.Errorf("got %q, %v", got, err)
		}
	})
	scenario(t, "hystrix 34 cancelled while running", lenient(), func(b *bench) {
		b.provider = answer("spare")
		b.reload(func(*ribboncmd.Settings) {})
		ctx, cancel := context.WithCancel(b.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		began := time.Now()
		_, err := b.doContext(ctx, hang)
		wantOutcome(b, err, ribboncmd.Cancelled)
		if !errors.Is(err, context.Canceled) || since(began) != 100*time.Millisecond {
			b.Errorf("%v after %v", err, since(began))
		}
		b.wantEvents(ribboncmd.EventCancelled)
		b.tick()
		b.wantHealth(0, 0)
	})
	scenario(t, "hystrix 36 cancelled when the response is there", lenient(), func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		if got, err := b.doContext(ctx, func(ctx context.Context) (*http.Response, error) {
			cancel()
			return succeed(ctx)
		}); got != "ok" || err != nil {
			b.Errorf("got %q, %v", got, err)
		}
		b.wantEvents(ribboncmd.EventSuccess)
	})
	scenario(t, "hystrix 37 permit of a call that ignores its context", lenient(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.MaxConcurrent = 1 })
		stuck := b.spawn(stubborn(2 * timeout))
		b.sleep(timeout + time.Millisecond)
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.SemaphoreRejected)
		wantOutcome(b, <-stuck, ribboncmd.Timeout)
		if _, err = b.do(succeed); err != nil {
			b.Error(err)
		}
	})
	t.Run("hystrix 17 fallback has no deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), fallback.Func(func(ctx context.Context, _ string, _ error) (*http.Response, error) {
				wait(3 * timeout)
				return response(http.StatusOK, "slow spare"), ctx.Err()
			}))
			if got, err := b.do(hang); got != "slow spare" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	})
}

type trackedBody struct {
	io.Reader
	closed bool
}

func (b *trackedBody) Close() error {
	b.closed = true
	return nil
}

// TestContextOfTheCall looks at the context as a transport would.
func TestContextOfTheCall(t *testing.T) {
	const timeout = 550 * time.Millisecond
	scenario(t, "deadline, error and cause", lenient(), func(b *bench) {
		began := time.Now()
		_, err := b.do(func(ctx context.Context) (*http.Response, error) {
			if d, ok := ctx.Deadline(); !ok || d.Sub(began) != timeout {
				b.Errorf("deadline in %v", d.Sub(began))
			}
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			<-child.Done()
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				b.Errorf("ended with %v", ctx.Err())
			}
			if !errors.Is(context.Cause(child), ribboncmd.ErrTimeout) || !errors.Is(context.Cause(ctx), ribboncmd.ErrTimeout) {
				b.Errorf("causes are %v and %v", context.Cause(child), context.Cause(ctx))
			}
			return nil, child.Err()
		})
		wantOutcome(b, err, ribboncmd.Timeout)
		if errors.Is(err, context.Canceled) {
			b.Error("a timeout looks like a caller that went away")
		}
	})
	scenario(t, "call that goes by the deadline alone", lenient(), func(b *bench) {
		_, err := b.do(func(ctx context.Context) (*http.Response, error) {
			d, _ := ctx.Deadline()
			wait(time.Until(d))
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				b.Errorf("ended with %v", ctx.Err())
			}
			return nil, errBoom
		})
		wantOutcome(b, err, ribboncmd.Timeout)
	})
	scenario(t, "earlier deadline and values of the caller", lenient(), func(b *bench) {
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(b.Context(), key{}, "v"), timeout/2)
		defer cancel()
		began := time.Now()
		_, _ = b.doContext(ctx, func(ctx context.Context) (*http.Response, error) {
			before := ctx.Value(key{})
			_ = ctx.Done()
			if after := ctx.Value(key{}); before != "v" || after != "v" {
				b.Errorf("values are %v and %v", before, after)
			}
			if d, _ := ctx.Deadline(); d.Sub(began) != timeout/2 {
				b.Errorf("deadline in %v", d.Sub(began))
			}
			return succeed(ctx)
		})
	})
	scenario(t, "details of the call survive a timeout", lenient(), func(b *bench) {
		_, err := b.do(func(ctx context.Context) (*http.Response, error) {
			<-ctx.Done()
			return nil, &attemptsError{attempts: 3}
		})
		var details *attemptsError
		if !errors.As(err, &details) || details.attempts != 3 {
			b.Errorf("error is %v", err)
		}
	})
}

// remember keeps the context of a call for a look after its end.
func remember(ctx context.Context, where *context.Context) { *where = ctx } //nolint:fatcontext // kept to be looked at

type attemptsError struct{ attempts int }

func (*attemptsError) Error() string { return "three attempts" }

// TestBodyAfterTheDeadline reads on while the deadline passes.
func TestBodyAfterTheDeadline(t *testing.T) {
	calls := map[string]func(context.Context){
		"nobody waits for the context":   func(context.Context) {},
		"somebody waits for the context": func(ctx context.Context) { _ = ctx.Done() },
	}
	for name, use := range calls {
		scenario(t, name, lenient(), func(b *bench) {
			b.reload(func(s *ribboncmd.Settings) { s.MaxConcurrent = 1 })
			tracked := &trackedBody{Reader: strings.NewReader("long")}
			var callCtx context.Context
			parent, cancel := context.WithCancel(b.Context())
			defer cancel()
			resp, err := b.cmd.Execute(parent, func(ctx context.Context) (*http.Response, error) {
				remember(ctx, &callCtx)
				use(ctx)
				return &http.Response{StatusCode: http.StatusOK, Body: tracked}, nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.sleep(time.Hour)
			if callCtx.Err() != nil {
				b.Errorf("context ended with %v before the body was read", callCtx.Err())
			}
			if _, ok := callCtx.Deadline(); ok {
				b.Error("deadline still stands")
			}
			if _, err := b.do(succeed); err != nil {
				b.Errorf("the permit is held by the body: %v", err)
			}
			if text, err := io.ReadAll(resp.Body); string(text) != "long" || err != nil {
				b.Errorf("read %q, %v", text, err)
			}
			if err := resp.Body.Close(); err != nil || !tracked.closed {
				b.Errorf("closed %v, %v", tracked.closed, err)
			}
			b.sleep(time.Hour)
		})
	}
	scenario(t, "closing the body ends the context", lenient(), func(b *bench) {
		var callCtx context.Context
		if _, err := b.do(func(ctx context.Context) (*http.Response, error) {
			remember(ctx, &callCtx)
			_ = ctx.Done()
			return succeed(ctx)
		}); err != nil {
			b.Fatal(err)
		}
		if !errors.Is(callCtx.Err(), context.Canceled) {
			b.Errorf("context ended with %v", callCtx.Err())
		}
	})
	scenario(t, "no body ends the context at once", lenient(), func(b *bench) {
		for _, body := range []io.ReadCloser{nil, http.NoBody} {
			var callCtx context.Context
			resp, err := b.cmd.Execute(b.Context(), func(ctx context.Context) (*http.Response, error) { //nolint:bodyclose // there is none
				remember(ctx, &callCtx)
				_ = ctx.Done()
				return &http.Response{StatusCode: http.StatusNoContent, Body: body}, nil
			})
			if err != nil || resp.Body != body {
				b.Fatalf("got %v, %v", resp, err)
			}
			if callCtx.Err() == nil {
				b.Error("the context goes on")
			}
		}
	})
	scenario(t, "the caller goes away while reading", lenient(), func(b *bench) {
		parent, cancel := context.WithCancel(b.Context())
		var callCtx context.Context
		resp, err := b.cmd.Execute(parent, func(ctx context.Context) (*http.Response, error) {
			remember(ctx, &callCtx)
			_ = ctx.Done()
			return succeed(ctx)
		})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		cancel()
		<-callCtx.Done()
	})
	scenario(t, "an upgraded connection can be written to", lenient(), func(b *bench) {
		conn := &duplex{trackedBody: trackedBody{Reader: strings.NewReader("")}}
		resp, err := b.cmd.Execute(b.Context(), func(ctx context.Context) (*http.Response, error) { //nolint:bodyclose // closed as the connection it is
			_ = ctx.Done()
			return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: conn}, nil
		})
		if err != nil {
			b.Fatal(err)
		}
		rwc, ok := resp.Body.(io.ReadWriteCloser)
		if !ok {
			b.Fatal("not a connection any more")
		}
		_, _ = io.WriteString(rwc, "frame")
		if _ = rwc.Close(); conn.written.String() != "frame" || !conn.closed {
			b.Errorf("wrote %q, closed %v", conn.written.String(), conn.closed)
		}
	})
}

type duplex struct {
	trackedBody
	written strings.Builder
}

func (d *duplex) Write(p []byte) (int, error) { return d.written.Write(p) }
