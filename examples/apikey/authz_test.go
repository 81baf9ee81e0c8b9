package apikey_test

import (
	"net/http"
	"testing"

	"github.com/gozer-gateway/gozer/examples/apikey"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
	"github.com/gozer-gateway/gozer/filters/filtertest"
)

// Whatever a request calls a path that is not open, nobody gets there without a key:
// the filter sees the path that routes see, and opens what it knows.
func TestNobodyGetsAroundTheKey(t *testing.T) {
	for _, target := range []string{
		"/admin", "/admin/", "/admin/x", "/admin%2Fx", "/Admin/x", "//admin/x", "/./admin/x", "/x/..%2fadmin/x", "/admin%5cx", "/admin%00/x", "/admin%3Bx",
		"/%2561dmin/x", "/admin.json", "/%EF%BD%81dmin", "/public/..%2fadmin/x", "/public/%2e%2e/admin/x", "/public/..%5cadmin", "/public//../../admin",
		"/health/../admin", "/health%2f..%2fadmin",
	} {
		t.Run("C242 "+target, func(t *testing.T) { wantRefused(t, target) })
	}
	for _, target := range []string{
		"/admin?/public", "/admin?a=/health", "/admin%23/health", "/admin%3F/health", "/admin/..;/public", "/public/../admin", "/publicity", "/admin?x=/public/**",
		"/healthz", "/health.json", "/a/health", "/a/public/b",
	} {
		t.Run("C243 "+target, func(t *testing.T) { wantRefused(t, target) })
	}
}

func wantRefused(t *testing.T, target string) {
	t.Helper()
	upstream := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the upstream is asked for %s", r.RequestURI)
	})
	got := filtertest.Serve(t, filtertest.New(t, "GET "+target), upstream,
		filtertest.Configured(apikey.Spec(), settings()), errorfilter.SendError(errorfilter.Settings{}))
	if got.Code != http.StatusUnauthorized && got.Code != http.StatusBadRequest {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
