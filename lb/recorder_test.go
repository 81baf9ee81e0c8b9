package lb_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/lb"
)

// heardAttempts writes down what a recorder hears.
type heardAttempts struct{ lines []string }

func (n *heardAttempts) Attempted(a lb.Attempt) {
	cause := "-"
	if a.Err != nil {
		cause = a.Kind.Cause()
	}
	n.lines = append(n.lines, fmt.Sprintf("%s %d %s %v", strings.TrimSuffix(a.Server, ":80"), a.Status, cause, a.Duration))
}

func TestRecorder(t *testing.T) {
	repeated := func(c *lb.Command) { c.Retry.StatusCodes = []int{503} }
	throttled := func(c *lb.Command) { c.Retry.ThrottledStatus = []int{429} }
	hedged := lb.HedgePolicy{Delay: 50 * ms, Max: 1}
	for _, row := range []struct {
		name    string
		servers map[string]pace
		policy  lb.HedgePolicy
		change  func(*lb.Command)
		want    []string
	}{
		{"answer", map[string]pace{"a": {after: ms, status: 200}}, lb.HedgePolicy{}, nil, []string{"a 200 - 1ms"}},
		{"failure, then answer", map[string]pace{"a": {after: ms, err: errRefused}, "b": {after: 2 * ms, status: 404}}, lb.HedgePolicy{}, nil, []string{"a 0 connect 1ms", "b 404 - 2ms"}},
		{"status given up", map[string]pace{"a": {status: 503}, "b": {status: 200}}, lb.HedgePolicy{}, repeated, []string{"a 503 - 0s", "b 200 - 0s"}},
		{"status that throttles", map[string]pace{"a": {status: 429}, "b": {status: 200}}, lb.HedgePolicy{}, throttled, []string{"a 429 throttled 0s", "b 200 - 0s"}},
		{"nothing but failures", map[string]pace{"a": {err: errReset}, "b": {err: errSilent}}, lb.HedgePolicy{}, nil, []string{"a 0 broken 0s", "b 0 timeout 0s"}},
		{"hedge: the slower copy is cancelled", map[string]pace{"a": {after: time.Hour}, "b": {after: 10 * ms, status: 200}}, hedged, nil, []string{"b 200 - 10ms", "a 0 cancelled 60ms"}},
		{"hedge: a copy fails", map[string]pace{"a": {after: ms, err: errRefused}, "b": {status: 200}}, hedged, nil, []string{"a 0 connect 1ms", "b 200 - 0s"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := hedging(t, row.servers, row.policy)
				if row.change != nil {
					row.change(c)
				}
				var heard heardAttempts
				call := retryable
				call.Recorder = &heard
				if resp, err := c.Do(newRequest(t.Context(), t, "GET", ""), call); err == nil {
					_ = resp.Body.Close()
				}
				synctest.Wait()
				if diff := cmp.Diff(row.want, heard.lines); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
