package ribboncmd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

func TestFallbackLimit(t *testing.T) {
	spare := fallback.Func(func(ctx context.Context, _ string, _ error) (*http.Response, error) {
		return slow(busy)(ctx)
	})
	t.Run("hystrix 19 second fallback during the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := lenient()
			s.Fallback.MaxConcurrent = 1
			b := start(t, s, spare)
			first := b.spawn(fail)
			_, err := b.do(fail)
			e := wantError(t, err, ribboncmd.FallbackRejected)
			if e.Execution != ribboncmd.Failure || !errors.Is(err, errBoom) {
				t.Errorf("original error is lost: %v, %v", e.Execution, err)
			}
			wantSuccess(t, first)
			b.wantEvents(ribboncmd.EventFailure, ribboncmd.EventFailure, ribboncmd.EventFallbackRejection, ribboncmd.EventFallbackSuccess)
		})
	})
	t.Run("hystrix 20 five permits, seven failures", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := lenient()
			s.Fallback.MaxConcurrent = 5
			b := start(t, s, spare)
			for range 7 {
				b.spawn(fail)
			}
			b.sleep(time.Second)
			if e := b.snapshot().Events; e[ribboncmd.EventFallbackSuccess] != 5 || e[ribboncmd.EventFallbackRejection] != 2 {
				t.Errorf("events are %v", e)
			}
			b.wantHealth(7, 7)
		})
	})
	t.Run("hystrix 35 cancelled during the fallback", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), spare)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			_, err := b.doContext(ctx, fail)
			wantOutcome(t, err, ribboncmd.Failure)
		})
	})
}

func TestBrokenProviders(t *testing.T) {
	providers := map[string]fallback.Provider{
		"panics": fallback.Func(func(context.Context, string, error) (*http.Response, error) { panic("spare") }),
		"has nothing": fallback.Func(func(context.Context, string, error) (*http.Response, error) {
			return nil, nil
		}),
		"has no status": responder(&http.Response{Body: http.NoBody}),
		"only informs":  responder(&http.Response{StatusCode: http.StatusEarlyHints}),
		"switches":      responder(&http.Response{StatusCode: http.StatusSwitchingProtocols}),
		"has a number":  responder(&http.Response{StatusCode: 1000}),
	}
	for name, p := range providers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, lenient(), p)
				_, err := b.do(fail)
				e := wantError(t, err, ribboncmd.Failure)
				if !errors.Is(err, errBoom) || e.FallbackErr == nil {
					t.Errorf("error is %v, fallback's %v", err, e.FallbackErr)
				}
				b.wantEvents(ribboncmd.EventFailure, ribboncmd.EventFallbackFailure)
			})
		})
	}
}

func responder(r *http.Response) fallback.Provider {
	return fallback.Func(func(context.Context, string, error) (*http.Response, error) { return r, nil })
}

func TestRefusedResponsesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := closing(make(chan bool, 1))
		b := start(t, lenient(), responder(&http.Response{StatusCode: 99, Body: closed}))
		b.times(1, fail)
		if len(closed) != 1 {
			t.Error("the body stays open")
		}
	})
}

// closing is an empty body that tells of its end.
type closing chan bool

func (closing) Read([]byte) (int, error) { return 0, io.EOF }
func (c closing) Close() error           { c <- true; return nil }

// What filters rely on is there, however little a provider gives.
func TestBareResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, lenient(), responder(&http.Response{StatusCode: http.StatusOK}))
		resp, err := b.cmd.Execute(t.Context(), fail)
		if err != nil || resp.Header == nil || resp.Body == nil {
			t.Fatalf("response is %+v, %v", resp, err)
		}
		_ = resp.Body.Close()
	})
}

func TestProvidersByService(t *testing.T) {
	registry := fallback.NewRegistry(
		fallback.Entry{Service: "simple", Provider: answer("fallback")},
		fallback.Entry{Service: fallback.Default, Provider: answer("default fallback")},
	)
	for service, want := range map[string]string{"simple": "fallback", "another": "default fallback"} {
		t.Run("zuul 142 slow "+service, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cmd := ribboncmd.New(nil).Command(service, lenient(), registry.Provider(service))
				b := &bench{T: t, cmd: cmd}
				if got, err := b.do(hang); got != want || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			})
		})
	}
	t.Run("zuul 143 the provider gets the cause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var causes []error
			b := start(t, lenient(), fallback.Func(func(_ context.Context, _ string, cause error) (*http.Response, error) {
				causes = append(causes, cause)
				return response(http.StatusOK, ""), nil
			}))
			b.times(1, fail)
			b.times(1, hang)
			if len(causes) != 2 || !errors.Is(causes[0], errBoom) || !errors.Is(causes[1], ribboncmd.ErrTimeout) {
				t.Errorf("causes are %v", causes)
			}
		})
	})
}

// A fallback that gives back what it was given leaves the original failure, which
// must not become a part of itself by that.
func TestDecliningFallbacks(t *testing.T) {
	type spare = func(context.Context, *ribboncmd.Error) (string, error)
	tests := map[string]spare{
		"the cause itself": func(_ context.Context, cause *ribboncmd.Error) (string, error) { return "", cause },
		"an error around it": func(_ context.Context, cause *ribboncmd.Error) (string, error) {
			return "", fmt.Errorf("no fallback: %w", cause)
		},
		"one among others": func(_ context.Context, cause *ribboncmd.Error) (string, error) {
			return "", errors.Join(io.EOF, cause)
		},
		"a panic with it": func(_ context.Context, cause *ribboncmd.Error) (string, error) { panic(cause) },
		"as the failure of another command": func(ctx context.Context, cause *ribboncmd.Error) (string, error) {
			return ribboncmd.Do(ctx, ribboncmd.Key{Command: "other"}, failed(cause), nil)
		},
		"as what the fallback of another command failed with": func(ctx context.Context, cause *ribboncmd.Error) (string, error) {
			return ribboncmd.Do(ctx, ribboncmd.Key{Command: "other"}, failed(io.EOF),
				func(context.Context, *ribboncmd.Error) (string, error) { return "", cause })
		},
		"bent onto itself": func(_ context.Context, cause *ribboncmd.Error) (string, error) {
			cause.Outcome, cause.Err = ribboncmd.Cancelled, io.EOF
			return "", cause
		},
	}
	for name, fallBack := range tests {
		atDesk(t, name+" of a task", func(d *desk) {
			got := d.do(&ribboncmd.Task[string]{Run: failed(errBoom), Fallback: fallBack})
			got.want(t, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackFailure)
			wantOriginal(t, got.err)
		})
		t.Run(name+" of a provider", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, lenient(), fallback.Func(func(ctx context.Context, _ string, cause error) (*http.Response, error) {
					given, _ := errors.AsType[*ribboncmd.Error](cause)
					_, err := fallBack(ribboncmd.NewContext(ctx, ribboncmd.New(nil)), given)
					return nil, err
				}))
				_, err := b.do(fail)
				wantOutcome(t, err, ribboncmd.Failure)
				wantOriginal(t, err)
				b.wantEvents(ribboncmd.EventFailure, ribboncmd.EventFallbackFailure)
			})
		})
	}
}

func wantOriginal(tb testing.TB, err error) {
	tb.Helper()
	failure, _ := errors.AsType[*ribboncmd.Error](err)
	for seen := 0; failure != nil; seen++ {
		if seen == 3 {
			tb.Fatal("the failure is a part of itself")
		}
		failure, _ = errors.AsType[*ribboncmd.Error](failure.FallbackErr)
	}
	if text := err.Error(); !errors.Is(err, errBoom) || !strings.Contains(text, "failed and fallback failed: boom; fallback: ") {
		tb.Errorf("error is %s", text)
	}
}
