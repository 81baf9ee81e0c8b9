package lb_test

import (
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/lb"
)

func TestServersFrom(t *testing.T) {
	instances := []discovery.Instance{
		{ID: "one", Service: "users", Host: "::1", Port: 9001, Secure: true, Zone: "z1", Metadata: map[string]string{"v": "2"}},
		{Service: "users", Host: "[::1]", Port: 9002},
		{ID: "bad host", Service: "users", Host: "[evil.test]", Port: 80},
		{ID: "bad port", Service: "users", Host: "h", Port: 0},
		{ID: "no host", Service: "users", Port: 80},
		{Service: "users", Host: "10.0.0.1", Port: 80, Scheme: "http"},
	}
	servers, err := lb.ServersFrom(instances)
	var got []string
	for _, s := range servers {
		got = append(got, s.String()+" "+s.HostPort()+" "+s.Zone)
	}
	t.Run("C153 the good ones stand", func(t *testing.T) {
		want(t, got, "one [::1]:9001 z1", "[::1]:9002 [::1]:9002 UNKNOWN", "10.0.0.1:80 10.0.0.1:80 UNKNOWN")
		if !servers[0].Secure || servers[0].Metadata["v"] != "2" || servers[2].Scheme != "http" {
			t.Errorf("%+v", servers)
		}
	})
	t.Run("C153 the bad ones are named", func(t *testing.T) {
		for _, id := range []string{"bad host", "bad port", "no host"} {
			if err == nil || !strings.Contains(err.Error(), `"`+id+`"`) {
				t.Errorf("%s is not in %v", id, err)
			}
		}
	})
}
