package admin_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/lb"
)

func TestServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{Outliers: &lb.OutlierPolicy{}})
		b.SetServers([]lb.Server{
			{Host: "a", Port: 1, Zone: "east", Metadata: map[string]string{"password": "secret"}},
			{Host: "b", Port: 1, Zone: "east"},
			{Host: "c", Port: 1, Zone: "West"},
			{ID: "i-d", Host: "::1", Port: 1, Zone: "West"},
		})
		b.SetAlive("b:1", false)
		end := func(n int, s *lb.Server, o lb.Outcome) {
			for range n {
				b.Begin(s, time.Now())
				b.End(s, time.Now(), 1500*time.Microsecond, o)
			}
		}
		end(3, b.Servers()[2], lb.Unhealthy)
		end(5, b.Servers()[3], lb.Failing)
		b.Choose(nil, nil) // ejects the last one
		end(2, b.Servers()[0], lb.Healthy)
		b.Begin(b.Servers()[0], time.Now())
		<-time.After(time.Second)

		const users = `{"servers":[` +
			`{"id":"a:1","address":"a:1","zone":"east","state":"UP","activeRequests":1,"totalRequests":2,"errors":0,"successiveFailures":0,"meanMillis":1.5,` +
			`"lastSecond":{"count":2,"meanMillis":1.5,"p50Millis":1.5,"p90Millis":1.5,"p99Millis":1.5}},` +
			`{"id":"b:1","address":"b:1","zone":"east","state":"DOWN","activeRequests":0,"totalRequests":0,"errors":0,"successiveFailures":0,"meanMillis":0},` +
			`{"id":"c:1","address":"c:1","zone":"West","state":"TRIPPED","activeRequests":0,"totalRequests":3,"errors":3,"successiveFailures":3,"meanMillis":1.5,` +
			`"lastSecond":{"count":3,"meanMillis":1.5,"p50Millis":1.5,"p90Millis":1.5,"p99Millis":1.5}},` +
			`{"id":"i-d","address":"[::1]:1","zone":"West","state":"EJECTED","activeRequests":0,"totalRequests":5,"errors":5,"successiveFailures":0,"meanMillis":1.5,` +
			`"lastSecond":{"count":5,"meanMillis":1.5,"p50Millis":1.5,"p90Millis":1.5,"p99Millis":1.5}}],` +
			`"zones":[{"zone":"east","servers":2,"tripped":0,"activeRequests":1,"load":0.5},{"zone":"west","servers":2,"tripped":1,"activeRequests":0,"load":0}]}`
		g := &gateway{balancers: []*lb.Balancer{b, lb.NewBalancer("void", lb.BalancerSettings{})}}
		for request, want := range map[string]string{
			"GET /actuator/servers":       `{"services":{"users":` + users + `,"void":{"servers":[],"zones":[]}}}`,
			"GET /actuator/servers/users": users,
		} {
			if got := ask(t, everything, g, request); got.Code != http.StatusOK || got.Body.String() != want {
				t.Errorf("%s: %d\n got %s\nwant %s", request, got.Code, got.Body, want)
			}
		}
		if got := ask(t, everything, g, "GET /actuator/servers/none"); got.Code != http.StatusNotFound {
			t.Errorf("unknown: %d", got.Code)
		}
	})
}
