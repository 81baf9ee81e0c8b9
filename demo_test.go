package gozer_test

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer"
)

func tcp(address string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address)) }

func TestTourShowsWhatThereIs(t *testing.T) {
	sample, err := os.ReadFile("gateway.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		yaml       string
		management net.Addr
		shown      []string
		hidden     []string
	}{
		"the sample": {
			string(sample), tcp("127.0.0.1:8081"),
			[]string{"127.0.0.1:8080/users/7", "8080/legacy/orders?x=1", "8080/local/you", "8080/nowhere", "127.0.0.1:8081/actuator/routes", "actuator/filters"},
			nil,
		},
		"other routes": {
			"zuul.routes: {users: /users/**=http://elsewhere, local: /local/**=forward:/hello}\nmanagement.endpoints.web: {base-path: /m, exposure.exclude: filters}",
			tcp("[::]:7001"),
			[]string{"8080/local/you", "127.0.0.1:7001/m/routes"},
			[]string{"/users", "/legacy", "/filters", "actuator"},
		},
		"no management": {"server.port: 1", nil, []string{"8080/nowhere"}, []string{"/users", "/routes", "/filters"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := newGateway(t, tt.yaml).Tour(tcp("[::]:8080"), tt.management)
			for _, part := range tt.shown {
				if !strings.Contains(got, part) {
					t.Errorf("%s is missing in\n%s", part, got)
				}
			}
			for _, part := range tt.hidden {
				if strings.Contains(got, part) {
					t.Errorf("%s is not there, but in\n%s", part, got)
				}
			}
		})
	}
}

func TestDemoWithoutItsPortSaysNothingOfRunning(t *testing.T) {
	var out, errOut strings.Builder
	taken := func(context.Context, string) (net.Listener, error) { return nil, net.ErrClosed }
	code := gozer.Execute(t.Context(), &out, &errOut, []string{"run", "--demo", "--config", file(t, usersAndBooks)},
		gozer.WithListen(taken), gozer.WithLogger(slog.New(slog.DiscardHandler)))
	if code != 1 || out.Len() > 0 {
		t.Errorf("code %d, printed %s", code, out.String())
	}
}
