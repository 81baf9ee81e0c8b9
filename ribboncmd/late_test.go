package ribboncmd_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// A response may tell of a failure in its header or, when it has been read, in its trailer.
func TestFailureFields(t *testing.T) {
	for name, tt := range map[string]struct {
		header, trailer http.Header
		failures        int64
		successes       int64
	}{
		"in the header":  {header: http.Header{"Bad": {"1"}}, failures: 1},
		"in the trailer": {trailer: http.Header{"Bad": {"1"}}, failures: 1, successes: 1},
		"nowhere":        {header: http.Header{"Good": {"1"}}, successes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := ribboncmd.DefaultSettings()
			s.FailureFields = func(h http.Header) bool { return h.Get("Bad") != "" }
			c := ribboncmd.New(nil).Command("users", s, nil)
			resp, err := c.Execute(t.Context(), func(context.Context) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: tt.header, Trailer: tt.trailer, ContentLength: -1, Body: io.NopCloser(strings.NewReader("body"))}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "body" {
				t.Errorf("%q, %v", body, err)
			}
			events := c.Snapshot().Events
			if events[ribboncmd.EventFailure] != tt.failures || events[ribboncmd.EventSuccess] != tt.successes {
				t.Errorf("counted %v", events)
			}
		})
	}
}
