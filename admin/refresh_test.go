package admin_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/filters"
)

func TestReload(t *testing.T) {
	none := admin.Delta{Added: []string{}, Changed: []string{}, Removed: []string{}}
	change := admin.Change{
		Routes:   admin.Delta{Added: []string{"books"}, Changed: []string{}, Removed: []string{"old"}},
		Services: none, Filters: none,
		Keys: []string{"zuul.routes.books", "zuul.routes.old"}, NeedRestart: []string{"server.port"},
	}
	const nothing = `{"added":[],"changed":[],"removed":[]}`
	for _, test := range []struct {
		name, request string
		change        admin.Change
		want          string
	}{
		{"keys as Spring lists them", "POST /actuator/refresh", change, `["zuul.routes.books","zuul.routes.old"]`},
		{"nothing has changed", "POST /actuator/refresh", admin.Change{Keys: []string{}}, `[]`},
		{
			"details", "POST /actuator/refresh?format=details", change,
			`{"routes":{"added":["books"],"changed":[],"removed":["old"]},"routesReordered":false,"services":` + nothing + `,"filters":` + nothing +
				`,"keys":["zuul.routes.books","zuul.routes.old"],"needRestart":["server.port"]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &gateway{change: test.change, refresh: func() error { return nil }}
			if got := ask(t, everything, g, test.request); got.Code != http.StatusOK || got.Body.String() != test.want {
				t.Errorf("%d\n got %s\nwant %s", got.Code, got.Body, test.want)
			}
		})
	}
	t.Run("C202 a faulty configuration is reported", func(t *testing.T) {
		g := &gateway{refresh: func() error { return errors.New("gateway.yaml:3: zuul.rutes: unknown key") }}
		if got := ask(t, everything, g, "POST /actuator/refresh"); got.Code != http.StatusInternalServerError || !strings.Contains(got.Body.String(), "gateway.yaml:3: zuul.rutes") {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	})
	for name, request := range map[string][]string{
		"not from a web page": {"POST /actuator/refresh", "Sec-Fetch-Site", "cross-site"},
		"not by reading":      {"GET /actuator/refresh"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &gateway{refresh: func() error { t.Error("refreshed"); return nil }}
			if got := ask(t, everything, g, request[0], request[1:]...); got.Code != http.StatusForbidden && got.Code != http.StatusMethodNotAllowed {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		})
	}
}

func TestReloadCounters(t *testing.T) {
	g := &gateway{meter: filters.NewMeter(), reloads: admin.Reloads{Succeeded: 5, Failed: 2, LastSuccess: time.Unix(1700000000, 0)}}
	for request, want := range map[string]string{
		"GET /actuator/metrics/gateway.reloads?tag=outcome:success": `"value":5`,
		"GET /actuator/metrics/gateway.reloads?tag=outcome:failure": `"value":2`,
		"GET /actuator/metrics/gateway.reload.last.success":         `"value":1700000000`,
	} {
		if got := ask(t, everything, g, request); !strings.Contains(got.Body.String(), want) {
			t.Errorf("C202 %s: %s, want %s", request, got.Body, want)
		}
	}
}
