package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What a shutdown cuts is the gateway's doing and not the client's: in the log, and towards
// gRPC clients, which repeat what was unavailable.
func TestCutByTheGateway(t *testing.T) {
	t.Parallel()
	s, up := startSlow(t), startGreeter(t)
	file := filepath.Join(t.TempDir(), "access.log")
	g := startGateway(t, s.yaml(0, 300*time.Millisecond)+withH2+`gateway.access-log: {enabled: true, file: `+file+`}
gateway.shutdown: {stream-grace: 300ms, idle-grace: 0s}
zuul.routes.greeter: {path: /greeter/**, strip-prefix: false}
greeter.ribbon.listOfServers: `+up.addr+`
gateway.upstream.greeter.protocol: h2c
`)
	c := dial(t, g.Proxy)
	write(t, c, lines("GET /slow/x HTTP/1.1", "Host: g.test"))
	receive(t, "the request arrives", s.arrived)
	call := talk(t.Context(), t, dialGRPC(t, g.Proxy))
	if _, err := converse(call, "hello"); err != nil {
		t.Fatal(err)
	}
	g.Signal(syscall.SIGTERM)
	var reply []byte
	if err := call.RecvMsg(&reply); status.Code(err) != codes.Unavailable {
		t.Errorf("the stream ended with %v", err)
	}
	g.ExitCode()

	entries := map[string]map[string]any{}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		entries[entry["path"].(string)] = entry
	}
	if e := entries["/slow/x"]; e["status"] != float64(http.StatusServiceUnavailable) || e["cause"] != "Shutting down" {
		t.Errorf("the request is logged as %v", e)
	}
	if e := entries["/greeter/Talk"]; e["cause"] != "Shutting down" {
		t.Errorf("the call is logged as %v", e)
	}
}
