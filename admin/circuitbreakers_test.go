package admin_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

func troubled() *gateway {
	s := ribboncmd.DefaultSettings()
	forced, off := s, s
	forced.Breaker.ForceClosed = true
	off.Breaker.Enabled = false
	return &gateway{commands: commands{snapshots: []ribboncmd.Snapshot{
		{
			Service: "orders", Group: "RibbonCommand", State: ribboncmd.Open, Requests: 40, Errors: 30, Slow: 10, Settings: s,
			Rolling: map[ribboncmd.Event]int64{ribboncmd.EventShortCircuited: 7},
		},
		{Service: "off", Group: "RibbonCommand", Settings: off},
		{Service: "forced", Group: "RibbonCommand", Settings: forced},
	}}}
}

func TestCircuitBreakers(t *testing.T) {
	const orders = `{"failureRate":"75%","slowCallRate":"25%","failureRateThreshold":"50%","bufferedCalls":40,"failedCalls":30,"slowCalls":10,` +
		`"notPermittedCalls":7,"state":"OPEN","group":"RibbonCommand","override":"NONE"}`
	const quiet = `{"failureRate":"0%","slowCallRate":"0%","failureRateThreshold":"50%","bufferedCalls":0,"failedCalls":0,"slowCalls":0,` +
		`"notPermittedCalls":0,"state":"STATE","group":"RibbonCommand","override":"NONE"}`
	for request, row := range map[string]struct {
		status int
		want   string
	}{
		"GET /actuator/circuitbreakers": {200, `{"circuitBreakers":{"orders":` + orders + `,"off":` +
			strings.Replace(quiet, "STATE", "DISABLED", 1) + `,"forced":` + strings.Replace(quiet, "STATE", "FORCED_CLOSED", 1) + `}}`},
		"GET /actuator/circuitbreakers/orders": {200, orders},
	} {
		t.Run(request, func(t *testing.T) {
			got := ask(t, everything, troubled(), request)
			if got.Code != row.status || got.Body.String() != row.want {
				t.Errorf("%d\n got %s\nwant %s", got.Code, got.Body, row.want)
			}
		})
	}
	if got := ask(t, everything, troubled(), "GET /actuator/circuitbreakers/unknown"); got.Code != http.StatusNotFound {
		t.Errorf("unknown: %d", got.Code)
	}
}

func update(t *testing.T, g *gateway, name, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/actuator/circuitbreakers/"+name, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	admin.New(everything, g).ServeHTTP(w, r)
	return w
}

func TestUpdateOfACircuit(t *testing.T) {
	g := troubled()
	for _, step := range []struct {
		order string
		want  ribboncmd.Override
		state string
	}{
		{"FORCE_OPEN", ribboncmd.ForcedOpen, "FORCED_OPEN"},
		{"force_closed", ribboncmd.ForcedClosed, "FORCED_CLOSED"},
		{"RESET", ribboncmd.NotForced, "OPEN"}, // the fake does not close it
		{"DISABLE", ribboncmd.ForcedClosed, "FORCED_CLOSED"},
		{"CLOSE", ribboncmd.NotForced, "OPEN"},
	} {
		got := update(t, g, "orders", `{"updateState":"`+step.order+`"}`)
		want := `{"circuitBreakerName":"orders","currentState":"` + step.state + `","message":"orders is ` + step.state + `"}`
		if got.Code != http.StatusOK || got.Body.String() != want || g.commands.snapshots[0].Override != step.want {
			t.Errorf("%s: %d %s, override %v", step.order, got.Code, got.Body, g.commands.snapshots[0].Override)
		}
	}
}

// The command of a filter may have any key.
func TestCircuitOfAnyName(t *testing.T) {
	for path, name := range map[string]string{
		"maps/geo":        "maps/geo",
		"GET%20%2Fgeo%3F": "GET /geo?",
		"100%25":          "100%",
		"a%0Ab":           "a\nb",
		"%2Fgeo/":         "/geo/",
		"..%2F..":         "../..",
		"{name}":          "{name}",
	} {
		g := &gateway{commands: commands{snapshots: []ribboncmd.Snapshot{{Service: name, Settings: ribboncmd.DefaultSettings()}}}}
		if got := ask(t, everything, g, "GET /actuator/circuitbreakers/"+path); got.Code != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, got.Code, got.Body)
		}
		if got := update(t, g, path, `{"updateState":"FORCE_OPEN"}`); got.Code != http.StatusOK || g.commands.snapshots[0].Override != ribboncmd.ForcedOpen {
			t.Errorf("POST %s: %d %s", path, got.Code, got.Body)
		}
	}
}

func TestRefusedUpdates(t *testing.T) {
	for name, row := range map[string]struct {
		circuit, body string
		status        int
		header        []string
	}{
		"unknown circuit": {"unknown", `{"updateState":"RESET"}`, 404, nil},
		"unknown state":   {"orders", `{"updateState":"HALF"}`, 400, nil},
		"no state":        {"orders", `{}`, 400, nil},
		"other field":     {"orders", `{"state":"RESET"}`, 400, nil},
		"no JSON":         {"orders", `RESET`, 400, nil},
		"more than JSON":  {"orders", `{"updateState":"RESET"} or not`, 400, nil},
		"two orders":      {"orders", `{"updateState":"RESET"}{"updateState":"FORCE_OPEN"}`, 400, nil},
		"a web page":      {"orders", `{"updateState":"RESET"}`, 403, []string{"Sec-Fetch-Site", "cross-site"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := troubled()
			g.commands.snapshots[0].Override = ribboncmd.ForcedOpen
			got := update(t, g, row.circuit, row.body, row.header...)
			if got.Code != row.status || g.commands.snapshots[0].Override != ribboncmd.ForcedOpen {
				t.Errorf("%d %s, override %v", got.Code, got.Body, g.commands.snapshots[0].Override)
			}
		})
	}
}
