package archtest_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/internal/archtest"
)

const module = "github.com/gozer-gateway/gozer"

func ourPackages(t *testing.T) []archtest.Package {
	t.Helper()
	pkgs, err := archtest.List("../..", module)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 10 {
		t.Fatalf("found only %d packages", len(pkgs))
	}
	return pkgs
}

// arrows is the design: a request goes down them, and nothing points up.
func arrows() archtest.Rules {
	const leaves = "internal/..."
	return archtest.Rules{Module: module, Arrows: []archtest.Arrow{
		{From: "cmd/gateway", To: []string{"."}},
		{From: "examples/...", To: []string{".", "filters", "examples/..."}},
		{From: "e2e", To: []string{"..."}},
		{From: "interop", To: []string{"..."}},
		{From: "bench/...", To: nil}, // measures built programs

		{From: ".", To: []string{"admin", "config", "discovery/...", "fallback", "filters/...", "lb", "registry", "ribboncmd", "routing", "telemetry/...", leaves}},
		{From: "admin", To: []string{"config", "discovery", "fallback", "filters", "lb", "ribboncmd", "routing", "telemetry", leaves}},
		{From: "telemetry", To: []string{"filters", "lb", "ribboncmd", "routing", leaves}},
		{From: "config", To: []string{leaves}},

		{From: "filters/filtertest", To: []string{"filters", "routing", leaves}},
		{From: "filters/route", To: []string{"filters", "ribboncmd", "lb", "routing", leaves}},
		{From: "filters/errors", To: []string{"filters", "ribboncmd", "lb", "routing", leaves}}, // turns their errors into statuses
		{From: "filters/...", To: []string{"filters", "routing", leaves}},

		{From: "ribboncmd", To: []string{"lb", "fallback", leaves}},
		{From: "telemetry/accesslog", To: []string{"filters", "routing", leaves}},
		{From: "lb", To: []string{"discovery", leaves}},
		{From: "lb/rest", To: nil}, // works over any http.Client

		{From: "routing", To: []string{leaves}},
		{From: "registry", To: []string{"discovery", "discovery/eureka", leaves}},
		{From: "discovery/...", To: []string{"discovery", leaves}},
		{From: "fallback", To: []string{leaves}},
		{From: leaves, To: []string{leaves}},
	}}
}

func TestArrows(t *testing.T) {
	for _, broken := range arrows().Check(ourPackages(t)) {
		t.Error(broken)
	}
}

// Test helpers link package testing and hold sockets open; no product may carry them.
func TestProductHasNoTestHelpers(t *testing.T) {
	helpers := map[string]bool{
		module + "/internal/archtest": true, module + "/internal/backendtest": true,
		module + "/internal/certtest": true, module + "/internal/leaktest": true, module + "/internal/memhttp": true, module + "/internal/otlptest": true,
		module + "/internal/testlog": true, module + "/filters/filtertest": true,
	}
	for _, p := range ourPackages(t) {
		for _, path := range p.Imports {
			if helpers[path] && !helpers[p.ImportPath] {
				t.Errorf("%s imports the test helper %s", p.ImportPath, path)
			}
		}
	}
}
