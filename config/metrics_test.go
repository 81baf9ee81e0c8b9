package config_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/config"
)

func TestMetricEnabled(t *testing.T) {
	c, report := config.Load("testdata/metrics.good.yaml", config.Options{})
	if report.Err() != nil {
		t.Fatal(report)
	}
	for name, want := range map[string]bool{
		"http.server.requests": true, "http.server.requests.active": false, "http.servers": false, "go.goroutines": false,
	} {
		if got := c.MetricEnabled(name); got != want {
			t.Errorf("%s is shown: %v", name, got)
		}
	}
	if !c.CountsRequests() {
		t.Error("requests are not counted")
	}
	none, _ := config.Load("", config.Options{Set: []string{"management.metrics.enable.http=false"}})
	if none.CountsRequests() {
		t.Error("requests are counted for nobody")
	}
	if usual, _ := config.Load("", config.Options{}); !usual.MetricEnabled("anything") || !usual.CountsRequests() {
		t.Error("nothing is shown by default")
	}
}
