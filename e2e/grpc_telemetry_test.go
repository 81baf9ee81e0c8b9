package e2e_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gozer-gateway/gozer/internal/otlptest"
)

// What a call has come to is on its spans, in its line and in the metrics, whoever has said
// so and wherever: the server in a head or a trailer, or the gateway in its place.
func TestGRPCCallsInTelemetry(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access.log")
	up, mortal := startGreeter(t), startGreeter(t)
	g, collector := startTraced(t, greeting(`
zuul.routes.mortal: {path: /mortal/**, strip-prefix: false}
gateway.upstream.mortal.protocol: h2c
mortal.ribbon.listOfServers: `+mortal.addr+`
`+strings.ReplaceAll(quickLog, "FILE", file), up.addr))
	c, ctx := dialGRPC(t, g.Proxy), within(t, patience)
	type outcome struct {
		server, attempt, errorType string // the status codes on the spans, and the server span's error
		failed, attemptFailed      bool
	}
	rows := []struct {
		name string
		call func() error
		code codes.Code
		want outcome
	}{
		{"good", func() error { _, err := call(ctx, c, "/greeter/Hello", "you"); return err }, codes.OK, outcome{server: "OK", attempt: "OK"}},
		{
			"the client's fault, in the head", func() error { _, err := call(ctx, c, "/greeter/Hello", "!fail NotFound"); return err }, codes.NotFound,
			outcome{server: "NOT_FOUND", attempt: "NOT_FOUND", attemptFailed: true},
		},
		{
			"the server's fault, in the trailer", func() error {
				s := talk(ctx, t, c)
				if _, err := converse(s, "hello"); err != nil {
					return err
				}
				_, err := converse(s, "!fail Internal")
				return err
			}, codes.Internal,
			outcome{server: "INTERNAL", attempt: "INTERNAL", errorType: "INTERNAL", failed: true, attemptFailed: true},
		},
		{
			"no server", func() error { _, err := call(ctx, c, "/closed/Hello", "you"); return err }, codes.Unavailable,
			outcome{server: "UNAVAILABLE", errorType: "connect", failed: true, attemptFailed: true},
		},
		{
			"a server that dies", func() error {
				s := talkTo(ctx, t, c, "/mortal/Talk")
				if _, err := converse(s, "hello"); err != nil {
					return err
				}
				mortal.server.Stop()
				return s.RecvMsg(new([]byte))
			}, codes.Unavailable,
			outcome{server: "UNAVAILABLE", errorType: "broken", failed: true, attemptFailed: true},
		},
	}
	for at, row := range rows {
		if err := row.call(); status.Code(err) != row.code {
			t.Fatalf("%s: %v", row.name, err)
		}
		var logged struct {
			Status *int `json:"grpc_status"`
		}
		line := logLines(t, file, at+1)[at]
		if err := json.Unmarshal([]byte(line), &logged); err != nil || logged.Status == nil || *logged.Status != int(row.code) {
			t.Errorf("%s: %v, %s", row.name, err, line)
		}
	}
	for series, n := range map[string]int{
		`grpc_status="OK",http_route="greeter"`: 1, `grpc_status="NOT_FOUND",http_route="greeter"`: 1, `grpc_status="INTERNAL",http_route="greeter"`: 1,
		`grpc_status="UNAVAILABLE",http_route="closed"`: 1, `grpc_status="UNAVAILABLE",http_route="mortal"`: 1,
	} {
		g.wantMetric("gozer_grpc_server_calls_total{" + series + "} " + strconv.Itoa(n))
	}
	spans := spansOf(t, g, collector)
	roots := otlptest.Of(spans, "server")
	slices.SortFunc(roots, func(a, b otlptest.Span) int { return int(a.Start) - int(b.Start) })
	if len(roots) != len(rows) {
		t.Fatalf("%d calls, want %d", len(roots), len(rows))
	}
	const key = "rpc.response.status_code"
	for at, row := range rows {
		root := roots[at]
		for _, attempt := range otlptest.Of(spans, "client") {
			if attempt.Parent != root.ID {
				continue
			}
			got := outcome{server: root.Attributes[key], attempt: attempt.Attributes[key], errorType: root.Attributes["error.type"], failed: root.Failed, attemptFailed: attempt.Failed}
			if got != row.want {
				t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
			}
		}
	}
}
