package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"
)

// defaultZone is the zone of registries that serve every zone without its own.
const defaultZone = "defaultZone"

func eurekaKeys() []Key {
	keys := lift("eureka.client.", eurekaClient, eurekaServersRows()...)
	keys = append(keys, serviceURLs(), availabilityZones())
	keys = append(keys, lift("eureka.client.", eurekaClient, eurekaClientRows()...)...)
	keys = append(keys, lift("eureka.client.", eurekaClient, deadEurekaClientRows()...)...)
	keys = append(keys, lift("eureka.instance.", eurekaInstance, eurekaInstanceRows()...)...)
	keys = append(keys, metadataMap())
	return append(keys, lift("eureka.instance.", eurekaInstance, deadEurekaInstanceRows()...)...)
}

func eurekaClient(b *builder, _ []string) *EurekaClient { return &b.config.Eureka.Client }

func eurekaInstance(b *builder, _ []string) *EurekaInstance { return &b.config.Eureka.Instance }

// eurekaServersRows are about the registries and the way to them.
func eurekaServersRows() []row[EurekaClient] {
	type c = EurekaClient
	return []row[c]{
		boolean("enabled", "true", "talk to Eureka registries; nothing is done unless a key of `eureka.client` or `eureka.instance` is written", func(e *c) *bool { return &e.Enabled }),
		text("region", "us-east-1", "region of the gateway", func(e *c) *string { return &e.Region }),
		boolean("prefer-same-zone-eureka", "true", "ask the registries of the gateway's own zone first, else last", func(e *c) *bool { return &e.PreferSameZone }),
		duration("eureka-server-read-timeout-seconds", "8", "each wait for a registry's answer", time.Second, time.Millisecond, func(e *c) *time.Duration { return &e.ReadTimeout }),
		duration("eureka-server-connect-timeout-seconds", "5", "time to connect to a registry", time.Second, time.Millisecond, func(e *c) *time.Duration { return &e.ConnectTimeout }),
		duration("eureka-connection-idle-timeout-seconds", "30", "how long an idle connection to a registry is kept", time.Second, time.Second, func(e *c) *time.Duration { return &e.IdleTimeout }),
		atLeast(1, "eureka-server-total-connections-per-host", "50", "connections to one registry", func(e *c) *int { return &e.MaxPerHost }),
		boolean("g-zip-content", "true", "ask for compressed answers", func(e *c) *bool { return &e.Gzip }),
		boolean("allow-redirects", "false", "tell registries that redirects are followed", func(e *c) *bool { return &e.AllowRedirects }),
		choice("client-data-accept", "full", "form of the lists; `compact` has no metadata and so no zones", []string{"full", "compact"}, func(e *c) *string { return &e.DataAccept }),
		text("proxy-host", "", "HTTP proxy in front of the registries", func(e *c) *string { return &e.Proxy.Host }),
		number("proxy-port", "80", "its port", 1, math.MaxUint16, func(e *c) *int { return &e.Proxy.Port }),
		text("proxy-user-name", "", "name to give to the proxy", func(e *c) *string { return &e.Proxy.User }),
		text("proxy-password", "", "password to give to the proxy", func(e *c) *string { return &e.Proxy.Password }),
		boolean("tls.enabled", "false", "use the certificates of `eureka.client.tls` for https registries", func(e *c) *bool { return &e.TLS.Enabled }),
		text("tls.trust-certificate", "", "PEM file of the authorities that vouch for registries; empty means the system's", func(e *c) *string { return &e.TLS.TrustCertificate }),
		text("tls.certificate", "", "PEM file of the gateway's certificate", func(e *c) *string { return &e.TLS.Certificate }),
		text("tls.certificate-private-key", "", "PEM file of its key", func(e *c) *string { return &e.TLS.PrivateKey }),
		duration("transport.sessioned-client-reconnect-interval-seconds", "1200", "after about that time a registry is chosen anew", time.Second, time.Second, func(e *c) *time.Duration { return &e.ReconnectInterval }),
		share("transport.retryable-client-quarantine-refresh-percentage", "0.66", "part of the registries that may be left out for having failed", func(e *c) *float64 { return &e.QuarantineShare }),
	}
}

// eurekaClientRows are about the list and the registration.
func eurekaClientRows() []row[EurekaClient] {
	type c = EurekaClient
	return []row[c]{
		boolean("fetch-registry", "true", "find services in the registry", func(e *c) *bool { return &e.Fetch }),
		duration("registry-fetch-interval-seconds", "30", "how often the list is fetched", time.Second, time.Second, func(e *c) *time.Duration { return &e.FetchInterval }),
		number("cache-refresh-executor-exponential-back-off-bound", "10", "how many times that interval may grow while fetches time out", 1, 1000, func(e *c) *int { return &e.FetchBackOffBound }),
		boolean("disable-delta", "false", "always fetch the whole list", func(e *c) *bool { return &e.DisableDelta }),
		text("registry-refresh-single-vip-address", "", "fetch only the instances with this virtual address", func(e *c) *string { return &e.SingleVIP }),
		boolean("filter-only-up-instances", "true", "use only instances whose status is UP", func(e *c) *bool { return &e.OnlyUp }),
		boolean("push.enabled", "true", "let registries push changes where they can, as Gozer's own does; others are polled", func(e *c) *bool { return &e.Push }),
		duration("keep-vanished", "90s", "how long instances stay in use that a full list lacks when it is less than half as long as what was known, as after the restart of a lone registry; 0 means not at all", time.Millisecond, 0, func(e *c) *time.Duration { return &e.KeepVanished }),
		text("snapshot-file", "", "file that keeps the last list, for a start without a registry", func(e *c) *string { return &e.SnapshotFile }),
		boolean("register-with-eureka", "true", "register the gateway", func(e *c) *bool { return &e.Register }),
		number("heartbeat-executor-exponential-back-off-bound", "10", "how many times the interval of heartbeats may grow while they time out", 1, 1000, func(e *c) *int { return &e.RenewBackOffBound }),
		duration("instance-info-replication-interval-seconds", "30", "how often changes of the gateway's own instance are looked for", time.Second, time.Second, func(e *c) *time.Duration { return &e.ReplicationInterval }),
		boolean("on-demand-update-status-change", "true", "send a change of status at once", func(e *c) *bool { return &e.OnDemandUpdate }),
		boolean("should-unregister-on-shutdown", "true", "leave the registry at the end; `false` leaves out OUT_OF_SERVICE too, which would outlast the gateway", func(e *c) *bool { return &e.Unregister }),
		boolean("healthcheck.enabled", "false", "derive the status from the gateway's readiness", func(e *c) *bool { return &e.HealthCheck }),
	}
}

func deadEurekaClientRows() []row[EurekaClient] {
	type c = EurekaClient
	const oneClient, noPool, startsAnyway = "there is one built-in client", "there are no thread pools", "the gateway starts without a registry and goes on trying"
	rows := []row[c]{
		only[c](Refused, "should-enforce-registration-at-init", "false", startsAnyway),
		only[c](Refused, "should-enforce-fetch-registry-at-init", "false", startsAnyway),
		only[c](Refused, "use-dns-for-fetching-service-urls", "false", "registries are named by `eureka.client.service-url`"),
		dead[c](Refused, "fetch-remote-regions-registry", "instances of other regions cannot be told apart"),
		dead[c](Refused, "backup-registry-impl", "Java classes cannot be loaded; use `eureka.client.snapshot-file`"),
		only[c](Refused, "dollar-replacement", "_-", "names of XML elements have the usual escapes"),
		only[c](Refused, "escape-char-replacement", "__", "names of XML elements have the usual escapes"),
		dead[c](Ignored, "eureka-server-d-n-s-name", "it belongs to service URLs from DNS"),
		dead[c](Ignored, "eureka-server-port", "it belongs to service URLs from DNS"),
		dead[c](Ignored, "eureka-server-u-r-l-context", "it belongs to service URLs from DNS"),
		dead[c](Ignored, "initial-instance-info-replication-interval-seconds", "the first registration is sent at once"),
		dead[c](Ignored, "eureka-service-url-poll-interval-seconds", "service URLs change with the configuration only"),
		dead[c](Ignored, "eureka-server-total-connections", "use `eureka-server-total-connections-per-host`"),
		dead[c](Ignored, "heartbeat-executor-thread-pool-size", noPool),
		dead[c](Ignored, "cache-refresh-executor-thread-pool-size", noPool),
		dead[c](Ignored, "log-delta-diff", "a delta that does not add up is always repaired; see `logging.level.root: debug`"),
		dead[c](Ignored, "encoder-name", oneClient),
		dead[c](Ignored, "decoder-name", oneClient),
		dead[c](Ignored, "webclient.enabled", oneClient),
		dead[c](Ignored, "jersey.enabled", oneClient),
		dead[c](Ignored, "rest-template-timeout.**", "use `eureka-server-connect-timeout-seconds` and `eureka-server-read-timeout-seconds`"),
		dead[c](Ignored, "timeout.**", "use `eureka-server-connect-timeout-seconds` and `eureka-server-read-timeout-seconds`"),
		dead[c](Ignored, "order", "there is one discovery client"),
		dead[c](Ignored, "refresh.enable", "a change of `eureka.client` needs a restart"),
		dead[c](Ignored, "transport.**", "registries are found by `eureka.client.service-url` alone"),
	}
	for _, name := range []string{"key-store", "key-store-type", "key-store-password", "key-password", "trust-store", "trust-store-type", "trust-store-password"} {
		rows = append(rows, dead[c](Refused, "tls."+name, "Java key stores; use the PEM files `tls.certificate`, `tls.certificate-private-key` and `tls.trust-certificate`"))
	}
	return rows
}

func eurekaInstanceRows() []row[EurekaInstance] {
	type i = EurekaInstance
	statuses := []string{"UP", "DOWN", "STARTING", "OUT_OF_SERVICE", "UNKNOWN"}
	return []row[i]{
		text("appname", "(spring.application.name)", "name under which the gateway registers; `unknown` without any", func(e *i) *string { return &e.AppName }),
		text("app-group-name", "", "group of that application", func(e *i) *string { return &e.AppGroup }),
		text("instance-id", "(hostname:appname:port)", "id of this instance", func(e *i) *string { return &e.InstanceID }),
		text("hostname", "(found out)", "host under which others reach the gateway", func(e *i) *string { return &e.HostName }),
		text("ip-address", "(found out)", "address of that host", func(e *i) *string { return &e.IPAddress }),
		boolean("prefer-ip-address", "false", "register the address as the host", func(e *i) *bool { return &e.PreferIPAddress }),
		number("non-secure-port", "0", "port under which others reach the gateway; 0 means that of the proxy", 0, math.MaxUint16, func(e *i) *int { return &e.Port }),
		boolean("non-secure-port-enabled", "true", "whether that port is open", func(e *i) *bool { return &e.PortEnabled }),
		number("secure-port", "443", "port for TLS", 0, math.MaxUint16, func(e *i) *int { return &e.SecurePort }),
		boolean("secure-port-enabled", "false", "whether that port is open", func(e *i) *bool { return &e.SecurePortEnabled }),
		text("virtual-host-name", "(appname)", "virtual address", func(e *i) *string { return &e.VirtualHostName }),
		text("secure-virtual-host-name", "(appname)", "virtual address for TLS", func(e *i) *string { return &e.SecureVirtualHostName }),
		duration("lease-renewal-interval-in-seconds", "30", "time between heartbeats", time.Second, time.Second, func(e *i) *time.Duration { return &e.RenewalInterval }),
		duration("lease-expiration-duration-in-seconds", "90", "time without heartbeats after which the registry gives the gateway up", time.Second, time.Second, func(e *i) *time.Duration { return &e.LeaseDuration }),
		text("home-page-url-path", "/", "path of the home page", func(e *i) *string { return &e.HomePagePath }),
		text("home-page-url", "(host, port and path)", "home page", func(e *i) *string { return &e.HomePage }),
		text("status-page-url-path", "(/info below the management base path)", "path of the status page", func(e *i) *string { return &e.StatusPagePath }),
		text("status-page-url", "(host, port and path)", "status page", func(e *i) *string { return &e.StatusPage }),
		text("health-check-url-path", "(/health below the management base path)", "path of the health check", func(e *i) *string { return &e.HealthPath }),
		text("health-check-url", "(host, port and path)", "health check", func(e *i) *string { return &e.Health }),
		text("secure-health-check-url", "(host, port and path, with a secure port)", "health check by TLS", func(e *i) *string { return &e.SecureHealth }),
		text("a-s-g-name", "", "auto scaling group", func(e *i) *string { return &e.ASGName }),
		choice("initial-status", "UP", "status with which the gateway registers", statuses, func(e *i) *string { return &e.InitialStatus }),
	}
}

func deadEurekaInstanceRows() []row[EurekaInstance] {
	type i = EurekaInstance
	return []row[i]{
		only[i](Ignored, "namespace", "eureka", "keys begin with `eureka`"),
		dead[i](Ignored, "instance-enabled-onit", "the gateway registers once it serves; see `initial-status`"),
		dead[i](Ignored, "async-client-initialization", "nothing ever waits for a registry"),
		dead[i](Ignored, "default-address-resolution-order", "use `hostname` or `ip-address`"),
		only[i](Refused, "data-center-info.name", "MyOwn", "the data centre is `MyOwn`"),
		dead[i](Refused, "data-center-info.**", "the data centre is `MyOwn`"),
		dead[i](Ignored, "registry.**", "of the registry's keys here only those listed with `eureka.server` count"),
	}
}

func serviceURLs() Key {
	set := func(b *builder, values []string, v *node) error {
		urls, err := each(v, serviceURLOf)
		zone := values[0]
		if uniform(zone) == uniform(defaultZone) {
			zone = defaultZone
		}
		if err == nil {
			b.config.Eureka.Client.ServiceURLs[zone] = urls
		}
		return err
	}
	return Key{
		Name: "eureka.client.service-url.<zone>", Type: "list of URLs", Default: "(the registry in this process, else http://localhost:8761/eureka/, for defaultZone)",
		Doc: "registries of a zone, with `user:password@` where they ask for it; `defaultZone` is for every zone without its own", set: set,
	}
}

func serviceURLOf(v *node) (string, error) {
	text, err := filled(v)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", errors.New("not an http or https URL with a host (the value may hold a password and is not shown)")
	}
	return text, nil
}

func availabilityZones() Key {
	set := func(b *builder, values []string, v *node) error {
		zones, err := textsOf(v)
		b.config.Eureka.Client.AvailabilityZones[values[0]] = zones
		return err
	}
	return Key{
		Name: "eureka.client.availability-zones.<region>", Type: "list", Default: "(defaultZone)",
		Doc: "zones of a region; the gateway is in the first one", set: set,
	}
}

func metadataMap() Key {
	set := func(b *builder, values []string, v *node) error {
		if v.kind != scalar {
			return fmt.Errorf("expected a text, found %s", v.kind)
		}
		b.config.Eureka.Instance.Metadata[values[0]] = v.text
		return nil
	}
	return Key{Name: "eureka.instance.metadata-map.**", Type: "text", Doc: "metadata of the gateway's instance; `zone` is the zone it is in", set: set}
}

// checkEureka notes whether there is a client, and fills in where its registry is.
func (b *builder) checkEureka() {
	c := &b.config.Eureka.Client
	for _, id := range b.store.order {
		s := b.store.get(id)
		if s.key != nil && s.places != nil && ofEurekaClient(s.key.Name) {
			c.Written = true
		}
	}
	if c.Written && len(c.ServiceURLs[defaultZone]) == 0 {
		c.ServiceURLs[defaultZone], c.Assumed = []string{b.config.Registry.nearest()}, true
	}
	if b.config.Balancers.Zone == "" && c.Active() {
		b.config.Balancers.Zone = b.config.Eureka.zone()
	}
	if i := b.config.Eureka.Instance; c.Written && i.LeaseDuration < i.RenewalInterval {
		if s := b.firstOf("eureka.instance.lease-expiration-duration-in-seconds", "eureka.instance.lease-renewal-interval-in-seconds"); s != nil {
			b.report.warnf(s.name(), s.at, "the lease ends after %s, before the next heartbeat (%s)", short(i.LeaseDuration), short(i.RenewalInterval))
		}
	}
}

// ofEurekaClient tells whether a key is about the client; those of
// eureka.instance.registry are about the registry.
func ofEurekaClient(key string) bool {
	return strings.HasPrefix(key, "eureka.client.") || strings.HasPrefix(key, "eureka.instance.") && !strings.HasPrefix(key, "eureka.instance.registry.")
}
