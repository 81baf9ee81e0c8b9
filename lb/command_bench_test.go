package lb_test

import (
	"net/http"
	"testing"

	"github.com/gozer-gateway/gozer/lb"
)

// BenchmarkCommand is a call without a network: choose, count, send.
func BenchmarkCommand(b *testing.B) {
	c := &lb.Command{
		Balancer:  newBalancer(b, "a", "b", "c"),
		Transport: &constant{http.Response{StatusCode: http.StatusOK, Body: http.NoBody}},
		Retry:     lb.DefaultRetryPolicy(),
	}
	req := newRequest(b.Context(), b, "GET", "")
	b.Run("Do", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Do(req, retryable); err != nil { //nolint:bodyclose // there is none
				b.Fatal(err)
			}
		}
	})
	b.Run("Send", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Send(b.Context(), req, retryable); err != nil { //nolint:bodyclose // there is none
				b.Fatal(err)
			}
		}
	})
}
