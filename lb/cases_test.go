package lb_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/lb"
)

func TestFirstAnswerIsNotTheLast(t *testing.T) {
	ok, missing := backendtest.Answer(http.StatusOK, "ok"), backendtest.Answer(http.StatusNotFound, "missing")
	again := lb.RetryPolicy{MaxSame: 1, StatusCodes: []int{http.StatusNotFound, http.StatusForbidden}, MaxReplayBytes: 100}
	all := again
	all.AllOperations = true
	for name, tc := range map[string]struct {
		first    http.Handler
		policy   lb.RetryPolicy
		method   string
		call     lb.Call
		status   int
		requests int64
	}{
		"zuul 136 silent, then an answer":             {backendtest.Hang(), again, http.MethodGet, retryable, http.StatusOK, 2},
		"zuul 137 a retryable status, then an answer": {missing, again, http.MethodGet, retryable, http.StatusOK, 2},
		"zuul 138 POST with all operations":           {backendtest.Hang(), all, http.MethodPost, retryable, http.StatusOK, 2},
		"zuul 138 POST":                               {backendtest.Hang(), again, http.MethodPost, retryable, 0, 1},
		"zuul 139 GET on a route that is not":         {backendtest.Hang(), again, http.MethodGet, lb.Call{}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &counted{Handler: backendtest.Sequence(tc.first, ok)}
				status, err := do(t, overPipes(t, tc.policy, b), newRequest(t.Context(), t, tc.method, ""), tc.call)
				if status != tc.status || b.requests.Load() != tc.requests {
					t.Errorf("status %d, %v after %d requests", status, err, b.requests.Load())
				}
				if status == 0 && err.Kind != lb.ReadTimeout {
					t.Errorf("the failure is a %v, want a read timeout", err.Kind)
				}
			})
		})
	}
}

// A form arrives whole at the second server when the first one's name does not resolve.
func TestFormMovesToTheNextServer(t *testing.T) {
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("foo") != "bar" {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	for name, call := range map[string]lb.Call{"zuul 116 retryable": retryable, "zuul 116 not retryable": {}} {
		t.Run(name, func(t *testing.T) {
			policy := lb.DefaultRetryPolicy()
			policy.AllOperations = true
			c := overSockets(t, policy, "nowhere.test", b.Addr)
			c.Transport = &http.Transport{DisableKeepAlives: true, DialContext: dialKnown}
			for range 4 {
				req := newRequest(t.Context(), t, http.MethodPost, "foo=bar")
				req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				if status, err := do(t, c, req, call); status != http.StatusOK {
					t.Fatalf("status %d, %v", status, err)
				}
			}
		})
	}
}

// dialKnown knows no names.
func dialKnown(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	d := net.Dialer{Timeout: time.Minute}
	return d.DialContext(ctx, network, address)
}
