package registry_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/registry"
)

func TestRateLimiter(t *testing.T) {
	const (
		custom   = "DiscoveryIdentity-Name: custom"
		listed   = "DiscoveryIdentity-Name: listed"
		standard = "DiscoveryIdentity-Name: DefaultClient"
		server   = "DiscoveryIdentity-Name: DefaultServer"
	)
	limit := func(enabled, throttle bool) func(*registry.Settings) {
		return func(s *registry.Settings) {
			s.RateLimit = registry.RateLimitSettings{Enabled: enabled, ThrottleStandard: throttle, PrivilegedClients: []string{"listed"}, Burst: 2, AllPerSecond: 10, FullPerSecond: 1}
		}
	}
	for _, row := range []struct {
		name              string
		enabled, throttle bool
		path, client      string
		third             int
		refused, counted  int64
	}{
		{"eureka 75 a custom client", true, false, "/eureka/apps/delta", custom, 503, 1, 1},
		{"eureka 75 only counted when off", false, false, "/eureka/apps/delta", custom, 200, 0, 1},
		{"eureka 75 a client without a name", true, false, "/eureka/apps/", "X-Nothing: x", 503, 1, 1},
		{"eureka 75 an application", true, false, "/eureka/apps/NONE", custom, 503, 1, 1},
		{"eureka 76 the standard client", true, false, "/eureka/apps", standard, 200, 0, 0},
		{"eureka 76 another server", true, false, "/eureka/apps", server, 200, 0, 0},
		{"eureka 76 a listed client", true, false, "/eureka/apps", listed, 200, 0, 0},
		{"eureka 76 the standard client, throttled", true, true, "/eureka/apps", standard, 503, 1, 1},
		{"what is no list", true, false, "/eureka/vips/x", custom, 200, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t, limit(row.enabled, row.throttle))
				n.do(http.MethodGet, row.path, "", row.client)
				n.do(http.MethodGet, row.path, "", row.client)
				got := n.do(http.MethodGet, row.path, "", row.client)
				if refused := got.status == 503; refused != (row.third == 503) || refused && got.body != "" {
					t.Errorf("the third answer: %d %q", got.status, got.body)
				}
				c := n.Counters()
				if c["numOfRateLimitedRequests"] != row.refused || c["numOfRateLimitedRequestCandidates"] != row.counted {
					t.Errorf("counters %v", c)
				}
			})
		})
	}
	t.Run("whole lists have a limit of their own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, limit(true, false))
			for _, want := range []int{200, 200, 503} {
				n.want(want, http.MethodGet, "/eureka/apps", "", custom)
				pass(200 * time.Millisecond)
			}
			n.want(200, http.MethodGet, "/eureka/apps/delta", "", custom)
			n.want(404, http.MethodPut, "/eureka/apps/A/h:1", "", custom)
		})
	})
	t.Run("eureka 77 nothing is compressed that was not asked for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			for accept, want := range map[string]string{"": "", "identity": "", "gzip": "gzip", "gzip, deflate": "gzip"} {
				got := n.want(200, http.MethodGet, "/v2/apps", "", "Accept-Encoding: "+accept)
				if got.header.Get("Content-Encoding") != want {
					t.Errorf("%q: %v", accept, got.header)
				}
			}
		})
	})
}
