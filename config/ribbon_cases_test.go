package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
)

// ribbonOf loads a text with command-line settings and gives the settings of a service.
func ribbonOf(t *testing.T, yaml, service string, set ...string) config.Ribbon {
	t.Helper()
	c, report := config.Parse("gateway.yaml", []byte(yaml), config.Options{Set: set})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	return c.RibbonFor(service)
}

// What is written for the service wins over what is written for all, and that over the default.
func TestRibbonLookUp(t *testing.T) {
	for name, tc := range map[string]struct {
		yaml string
		set  []string
		want time.Duration // of ConnectTimeout
	}{
		"ribbon 98 an outer value wins":                {"myclient.ribbon.ConnectTimeout: 2000", []string{"myclient.ribbon.ConnectTimeout=1500"}, 1500 * time.Millisecond},
		"ribbon 99 100 read before or after others":    {"ribbon.ConnectTimeout: 456", []string{"ribbon.ConnectTimeout=123"}, 123 * time.Millisecond},
		"ribbon 99 cleared again":                      {"ribbon: {}", nil, time.Second},
		"ribbon 101 150 neither":                       {"ribbon: {}", nil, time.Second},
		"ribbon 101 150 for all":                       {"ribbon.ConnectTimeout: 25000", nil, 25 * time.Second},
		"ribbon 101 for the service":                   {"ribbon.ConnectTimeout: 100\nmyclient.ribbon.ConnectTimeout: 200", nil, 200 * time.Millisecond},
		"ribbon 101 for the service, for all after it": {"myclient.ribbon.ConnectTimeout: 200\nribbon.ConnectTimeout: 100", nil, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ribbonOf(t, tc.yaml+"\n", "myclient", tc.set...).ConnectTimeout; got != tc.want {
				t.Errorf("ConnectTimeout %v, want %v", got, tc.want)
			}
		})
	}
	t.Run("ribbon 103 set and cleared", func(t *testing.T) {
		if !ribbonOf(t, "ribbon.EnableZoneAffinity: true\n", "a").Balancing.Affinity.Prefer || ribbonOf(t, "ribbon: {}\n", "a").Balancing.Affinity.Prefer {
			t.Error("EnableZoneAffinity does not follow the file")
		}
	})
	t.Run("ribbon 149 150 the defaults of the others", func(t *testing.T) {
		r := ribbonOf(t, "foo.ribbon.MaxAutoRetries: 2\n", "foo")
		if r.MaxAutoRetries != 2 || r.ReadTimeout != time.Second || r.MaxAutoRetriesNextServer != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// Ribbon 91: placeholders in VIP addresses. An unknown one is an error here.
func TestVIPAddresses(t *testing.T) {
	const yaml = "users.ribbon.DeploymentContextBasedVipAddresses: www.${foo}.com,myserver,${bar}\n"
	r := ribbonOf(t, "foo: abc\nbar: xyz\n"+yaml, "users")
	if diff := cmp.Diff([]string{"www.abc.com", "myserver", "xyz"}, r.Balancing.Discovery.VIPs); diff != "" {
		t.Error(diff)
	}
	if _, report := config.Parse("gateway.yaml", []byte("foo: abc\n"+yaml), config.Options{}); report.Err() == nil {
		t.Error("an unknown placeholder is no error")
	}
}

func TestBadBalancing(t *testing.T) {
	for name, tc := range map[string]struct{ set, want string }{
		"a share above 1":      {"users.ribbon.zoneAffinity.maxBlackOutServesrPercentage=1.5", `"1.5" is out of range (0 to 1)`},
		"no number":            {"ZoneAwareNIWSDiscoveryLoadBalancer.default.triggeringLoadPerServerThreshold=x", `"x" is not a number`},
		"not a number":         {"ZoneAwareNIWSDiscoveryLoadBalancer.default.triggeringLoadPerServerThreshold=NaN", `"NaN" is not a number`},
		"nothing":              {"users.ribbon.NFLoadBalancerRuleClassName=", "the value is empty"},
		"a ping of no path":    {"gateway.load-balancing.users.ping-path=/%zz", `"/%zz" is not the path of a URL`},
		"a ping of a fragment": {"gateway.load-balancing.users.ping-path=/up#here", `"/up#here" is not the path of a URL`},
		"no path to prime":     {"users.ribbon.PrimeConnectionsURI=/%", `"/%" is not the path of a URL`},
		"a bound below all":    {"gateway.load-balancing.users.hash-bound=0.5", `"0.5" is below 1`},
		"a key of nothing":     {"gateway.load-balancing.users.hash-on=header:", `"header:" is none of address, path, header:<name>, cookie:<name>`},
		"a path of what":       {"gateway.load-balancing.users.hash-on=path:x", `"path:x" is none of`},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := config.Parse("gateway.yaml", nil, config.Options{Set: []string{tc.set}})
			if report.Err() == nil || !strings.Contains(report.String(), tc.want) {
				t.Errorf("%s: want %s", report, tc.want)
			}
		})
	}
}
