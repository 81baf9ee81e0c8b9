package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/machine"
)

func parseEureka(t *testing.T, yaml string) (*config.Config, *config.Report) {
	t.Helper()
	cfg, report := config.Parse("gateway.yaml", []byte(yaml), config.Options{})
	return cfg, report
}

func TestPlaceholdersOfSpringCloud(t *testing.T) {
	cfg, report := parseEureka(t, "eureka.instance.instance-id: ${spring.cloud.client.ip-address}:${spring.cloud.client.hostname}:${spring.cloud.client.ipAddress}\n")
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	want := machine.Address() + ":" + machine.Hostname() + ":" + machine.Address()
	if got := cfg.Eureka.Instance.InstanceID; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestServiceURLs(t *testing.T) {
	for name, row := range map[string]struct {
		yaml string
		want map[string][]string
	}{
		"none":                  {"server.port: 80\n", map[string][]string{}},
		"a key of the registry": {"eureka.instance.registry.default-open-for-traffic-count: 1\n", map[string][]string{}},
		"a key of the section":  {"eureka.client.enabled: true\n", map[string][]string{"defaultZone": {"http://localhost:8761/eureka/"}}},
		"beside a registry of its own": {
			"eureka: {server: {enabled: true, port: 9761, context-path: /ctx}, instance.hostname: h}\n",
			map[string][]string{"defaultZone": {"http://localhost:9761/ctx/eureka/"}},
		},
		"beside one with TLS at an address": {
			"eureka: {server: {enabled: true, address: '::1', ssl: {certificate: c, certificate-private-key: k}}, instance.hostname: h}\n",
			map[string][]string{"defaultZone": {"https://[::1]:8761/eureka/"}},
		},
		"C183 eureka 121 commas, blanks and passwords": {
			`eureka.client.serviceUrl.defaultZone: " http://u:p%40ss@127.0.0.1:8761/eureka , http://127.0.0.1:8762/eureka/ "` + "\n",
			map[string][]string{"defaultZone": {"http://u:p%40ss@127.0.0.1:8761/eureka", "http://127.0.0.1:8762/eureka/"}},
		},
		"C183 default-zone": {"eureka.client.service-url.default-zone: http://a/\n", map[string][]string{"defaultZone": {"http://a/"}}},
		"a list, and another zone": {
			"eureka.client.service-url: {Zone-A: [http://a/, http://b/]}\n",
			map[string][]string{"Zone-A": {"http://a/", "http://b/"}, "defaultZone": {"http://localhost:8761/eureka/"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, report := parseEureka(t, row.yaml)
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, cfg.Eureka.Client.ServiceURLs); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServiceURLsThatAreNone(t *testing.T) {
	for _, url := range []string{"ftp://u:s3cr/et@h/", "http://u:s3cr@et@h:x/", "u:s3cret@h", "http://:s3cret@/eureka"} {
		_, report := parseEureka(t, "eureka.client.service-url.defaultZone: '"+url+"'\n")
		got := report.String()
		if report.Err() == nil || strings.Contains(got, "s3cr") || !strings.Contains(got, "gateway.yaml:1: error: eureka.client.service-url.defaultZone: not an http or https URL") {
			t.Errorf("%s: %s", url, got)
		}
	}
}

func TestWhereTheGatewayIs(t *testing.T) {
	const zones = "eureka.client: {region: eu, availability-zones: {eu: 'a, b', us: c}}\n"
	for name, row := range map[string]struct{ yaml, want string }{
		"nowhere":               {"eureka.client.region: eu\n", ""},
		"first zone of region":  {zones, "a"},
		"by metadata":           {zones + "eureka.instance.metadata-map.zone: m\n", "m"},
		"by its own key":        {zones + "eureka.instance.metadata-map.zone: m\ngateway.zone: g\n", "g"},
		"not without discovery": {zones + "---\neureka.client.enabled: false\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, report := parseEureka(t, row.yaml)
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			if got := cfg.Balancers.Zone; got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestLeaseShorterThanItsRenewal(t *testing.T) {
	_, report := parseEureka(t, "eureka.instance: {lease-renewal-interval-in-seconds: 60, lease-expiration-duration-in-seconds: 30}\n")
	if got := report.String(); !strings.Contains(got, "the lease ends after 30s, before the next heartbeat (1m)") {
		t.Error(got)
	}
}
