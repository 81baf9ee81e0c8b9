package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// tool is the path of a program of Debian's package prometheus; without it the test is
// skipped. CI installs it.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian's package prometheus has it): %v", name, err)
	}
	return path
}

func TestAlertRules(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{
		{"check", "rules", "gozer.rules.yml"},
		{"test", "rules", "gozer.rules_test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = "../docs/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestAlertsHaveRunbooks also sees to it that every alert is tested and that its metrics
// are in the manual.
func TestAlertsHaveRunbooks(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	tests := read("prometheus/gozer.rules_test.yml")
	alerts := strings.Split(read("prometheus/gozer.rules.yml"), "- alert: ")[1:]
	for _, alert := range alerts {
		name, rest, _ := strings.Cut(alert, "\n")
		if !strings.Contains(rest, "runbook: '") || !strings.Contains(tests, `alertname="`+name+`"`) {
			t.Errorf("%s has no runbook or no test", name)
		}
	}
	if len(alerts) < 10 {
		t.Errorf("only %d alerts are found", len(alerts))
	}
}

// prometheus is Debian's server, which scrapes a gateway until the test ends.
func prometheus(t *testing.T, target string) (api string) {
	t.Helper()
	server, dir := tool(t, "prometheus"), t.TempDir()
	rules, err := filepath.Abs("../docs/prometheus/gozer.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\n"+
		"scrape_configs: [{job_name: gozer, metrics_path: /actuator/prometheus, static_configs: [{targets: [%q]}]}]\n", rules, target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log := newOutput()
	cmd := exec.CommandContext(context.Background(), server,
		"--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	var found []string
	eventually(t, "it listens", func() bool {
		found = prometheusListens.FindStringSubmatch(log.String())
		return found != nil
	})
	return "http://" + found[1] + "/api/v1/"
}

var prometheusListens = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:[1-9]\d*)`)

// query gives the value of an expression, "" while there is none.
func query(g *gateway, api, expr string) string {
	res, err := g.tryGet(api + "query?query=" + expr)
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err != nil || json.Unmarshal([]byte(res.Body), &answer) != nil || len(answer.Data.Result) == 0 {
		return ""
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1])
}

func TestPrometheusScrapes(t *testing.T) {
	tool(t, "prometheus")
	upstream := backendtest.Start(t, backendtest.Answer(http.StatusOK, "hello"))
	g := startGateway(t, "zuul.routes.users: /users/**\nusers.ribbon.listOfServers: "+upstream.Addr+"\n")
	api := prometheus(t, g.Admin)
	eventually(t, "the gateway is up", func() bool { return query(g, api, "up") == "1" })
	for range 3 {
		if _, err := g.tryGet(g.URL("/users/1")); err != nil {
			t.Fatal(err)
		}
	}
	for expr, want := range map[string]string{
		"http_server_request_duration_seconds_count":                    "3",
		"gozer_client_attempts_total":                                   "3",
		"gozer_breaker_open":                                            "0",
		"gozer_ready":                                                   "1",
		"count(http_client_request_duration_seconds_bucket)":            "15",
		"gozer_service_servers%7Bstate%3D%22alive%22%7D":                "1",
		"gozer_http_server_response_body_bytes_total":                   "15",
		"scrape_samples_scraped%20%3E%20bool%2050":                      "1",
		"count(ALERTS%7Balertstate%3D%22firing%22%7D)%20or%20vector(0)": "0",
	} {
		eventually(t, expr+" is "+want, func() bool { return query(g, api, expr) == want })
	}
}

// wantMetric waits for a line of the metrics.
func (g *gateway) wantMetric(line string) {
	g.tb.Helper()
	eventually(g.tb, "the metrics have "+line, func() bool {
		a, err := g.tryGet(g.AdminURL("/actuator/prometheus"))
		return err == nil && strings.Contains(a.Body, "\n"+line+"\n")
	})
}

// Clients that flood, reset, or send what is no HTTP/2 show in the metrics, without anything that they
// choose.
func TestEndsOfHTTP2AreCounted(t *testing.T) {
	t.Parallel()
	nativeOnly(t)
	g := startGateway(t, "zuul.routes: {}\n"+withH2+"gateway.http2.flood.max-control-frames: 10\n")
	flooding, broken := g.dialH2(), g.dialH2()
	flooding.open(true, get2("/x")...)
	_ = flooding.WriteRSTStream(1, http2.ErrCodeCancel)
	for range 20 {
		_ = flooding.WritePing(false, [8]byte{}) // the server may have had enough
	}
	_ = broken.WriteContinuation(1, true, nil)
	g.wantMetric(`gozer_http2_streams_reset_total{by="client",code="cancel"} 1`)
	g.wantMetric(`gozer_http2_connections_cut_total{reason="control_frames"} 1`)
	g.wantMetric(`gozer_http2_connections_cut_total{reason="protocol_error"} 1`)
	g.dialH2().ask(get2("/x", "x-mine:  1")...).wantStatus(t, http.StatusBadRequest)
	g.wantMetric(`gozer_http2_refused_total{http_response_status_class="4xx",reason="white space around a value"} 1`)
}

// What HTTP/2 refuses by itself is counted and logged as in HTTP/1.1, by either engine.
func TestRefusalsOfHTTP2AreCounted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access.log")
	g := startGateway(t, "zuul.routes: {}\n"+withH2+strings.ReplaceAll(quickLog, "FILE", file))
	c := g.dialH2()
	for range 2 {
		c.ask(get2("/a b")...).wantStatus(t, http.StatusBadRequest)
	}
	g.wantMetric(`gozer_http2_refused_total{http_response_status_class="4xx",reason="invalid character in :path"} 2`)
	wantLines(t, logLines(t, file, 2)[1], []string{`"status":400`, `"cause":"invalid character in :path"`})
}
