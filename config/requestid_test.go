package config_test

import (
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/config"
)

// A request's id must not get into a field that frames, routes or vouches for it.
func TestRequestIDHeaders(t *testing.T) {
	for name, fine := range map[string]bool{
		"X-Request-Id": true, "x-correlation-id": true, "Request-Id": true,
		"content-length": false, "Transfer-Encoding": false, "host": false, "Connection": false, "TE": false, "Authorization": false, "Cookie": false,
		"Via": false, "Forwarded": false, "X-Forwarded-For": false, "x_forwarded_for": false, "X-Real-IP": false, "Expect": false,
	} {
		_, report := config.Parse("app.yml", []byte("gateway.request-id.header: "+name+"\n"), config.Options{})
		if err := report.Err(); (err == nil) != fine || err != nil && !strings.Contains(report.String(), "app.yml:1: error: gateway.request-id.header: ") {
			t.Errorf("%s: %s", name, report)
		}
	}
}
