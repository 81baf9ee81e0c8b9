package config

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

func registryKeys() []Key {
	return slices.Concat(
		lift("eureka.server.", registry, registryLeaseKeys()...),
		lift("eureka.server.", registry, registryListKeys()...),
		lift("eureka.server.", registry, registryPeerKeys()...),
		lift("eureka.server.", registry, registryLimitKeys()...),
		lift("eureka.server.users.<user>.", registryUser, registryUserKeys()...),
		registryRegionKeys(),
		lift("", registry,
			number("eureka.instance.registry.default-open-for-traffic-count", "0", "renewing clients that are expected of an empty registry; Spring counts one that does not exist", 0, math.MaxInt32, func(r *Registry) *int { return &r.OpenForTrafficCount }),
			dead[Registry](Ignored, "eureka.instance.registry.expected-number-of-clients-sending-renews", "counting begins with `default-open-for-traffic-count`"),
			text("spring.security.user.name", "user", "name that goes with the next key", func(r *Registry) *string { return &r.SpringUser }),
			text("spring.security.user.password", "", "password of a user of the registry who may do everything", func(r *Registry) *string { return &r.SpringPassword }),
			boolean("eureka.dashboard.enabled", "true", "serve the registry's status page", func(r *Registry) *bool { return &r.Dashboard }),
			text("eureka.dashboard.path", "/", "where the status page is", func(r *Registry) *string { return &r.DashboardPath }),
			text("eureka.environment", "test", "shown on the status page", func(r *Registry) *string { return &r.Environment }),
			text("eureka.datacenter", "default", "shown on the status page", func(r *Registry) *string { return &r.DataCenter }),
			boolean("eureka.experimental.registration.validation.data-center-info-id", "false", "refuse Amazon instances without `instance-id`", func(r *Registry) *bool { return &r.ValidateDataCenterID }),
		),
		lift("eureka.server.", registry, deadRegistryKeys()...),
	)
}

func registry(b *builder, _ []string) *Registry { return &b.config.Registry }

func registryLeaseKeys() []row[Registry] {
	return []row[Registry]{
		boolean("enabled", "false", "run a registry in this process, for anybody's Eureka clients", func(r *Registry) *bool { return &r.Enabled }),
		number("port", "8761", "port of the registry; 0 means any free one. `gateway registry` uses `server.port` if only that is set", 0, 65535, func(r *Registry) *int { return &r.Port }),
		text("address", "", "address of the registry; empty means all", func(r *Registry) *string { return &r.Address }),
		text("context-path", "", "path in front of everything the registry serves", func(r *Registry) *string { return &r.ContextPath }),
		text("my-url", "", "the registry's own service URL among `eureka.client.service-url`; empty means the one with a name or address of this host, and its port", func(r *Registry) *string { return &r.MyURL }),
		boolean("compare-peer-ports", "true", "whether a service URL on this host with another port is a peer; with `false` it is taken for the registry itself, as Eureka does", func(r *Registry) *bool { return &r.ComparePorts }),
		boolean("enable-self-preservation", "true", "expire nothing while too few leases are renewed", func(r *Registry) *bool { return &r.SelfPreservation }),
		share("renewal-percent-threshold", "0.85", "share of the expected renewals that must be exceeded; also what one eviction leaves", func(r *Registry) *float64 { return &r.RenewalPercentThreshold }),
		millis("renewal-threshold-update-interval-ms", "15m", "how often the expected number of clients is brought in line", time.Millisecond, func(r *Registry) *time.Duration { return &r.ThresholdUpdateInterval }),
		duration("expected-client-renewal-interval-seconds", "30s", "how often a client is expected to renew", time.Second, time.Millisecond, func(r *Registry) *time.Duration { return &r.ClientRenewalInterval }),
		millis("eviction-interval-timer-in-ms", "60s", "how often expired leases are looked for", time.Millisecond, func(r *Registry) *time.Duration { return &r.EvictionInterval }),
		boolean("exact-lease-expiry", "false", "let a renewed lease live its duration; in Eureka it lives twice that", func(r *Registry) *bool { return &r.ExactLeaseExpiry }),
		boolean("sync-when-timestamp-differs", "true", "compare versions of an instance at heartbeats", func(r *Registry) *bool { return &r.SyncWhenTimestampDiffers }),
	}
}

func registryListKeys() []row[Registry] {
	return []row[Registry]{
		boolean("use-read-only-response-cache", "true", "let lists be as old as `response-cache-update-interval-ms`; `false` shows every change at once", func(r *Registry) *bool { return &r.Cache.ReadOnly }),
		millis("response-cache-update-interval-ms", "30s", "how often cached lists are renewed", time.Millisecond, func(r *Registry) *time.Duration { return &r.Cache.UpdateInterval }),
		duration("response-cache-auto-expiration-in-seconds", "180s", "after which a cached answer is made again in any case", time.Second, 0, func(r *Registry) *time.Duration { return &r.Cache.Expiration }),
		atLeast(1, "initial-capacity-of-response-cache", "1000", "most answers that are cached", func(r *Registry) *int { return &r.Cache.MaxEntries }),
		boolean("disable-delta", "false", "answer 403 to requests for deltas", func(r *Registry) *bool { return &r.Cache.DisableDelta }),
		millis("retention-time-in-ms-in-delta-queue", "180s", "how long a change stays in deltas", 0, func(r *Registry) *time.Duration { return &r.Cache.DeltaRetention }),
		millis("delta-retention-timer-interval-in-ms", "30s", "how often old changes are looked for", time.Millisecond, func(r *Registry) *time.Duration { return &r.Cache.DeltaSweepInterval }),
		boolean("rate-limiter-enabled", "false", "refuse lists with 503 that are read too often", func(r *Registry) *bool { return &r.RateLimit.Enabled }),
		boolean("rate-limiter-throttle-standard-clients", "false", "limit Java clients and servers too", func(r *Registry) *bool { return &r.RateLimit.ThrottleStandard }),
		texts("rate-limiter-privileged-clients", "", "values of `DiscoveryIdentity-Name` that are never limited", func(r *Registry) *[]string { return &r.RateLimit.PrivilegedClients }),
		atLeast(0, "rate-limiter-burst-size", "10", "reads at once before the rates count; 0 means no limit", func(r *Registry) *int { return &r.RateLimit.Burst }),
		atLeast(0, "rate-limiter-registry-fetch-average-rate", "500", "reads of lists per second", func(r *Registry) *int { return &r.RateLimit.AllPerSecond }),
		atLeast(0, "rate-limiter-full-fetch-average-rate", "100", "reads of the whole list per second", func(r *Registry) *int { return &r.RateLimit.FullPerSecond }),
	}
}

func registryPeerKeys() []row[Registry] {
	return []row[Registry]{
		atLeast(1, "max-elements-in-peer-replication-pool", "10000", "changes that wait for a peer; beyond that the oldest is dropped", func(r *Registry) *int { return &r.Replication.MaxQueue }),
		millis("max-time-for-replication", "30s", "after which a cancellation is no longer passed on", time.Millisecond, func(r *Registry) *time.Duration { return &r.Replication.MaxTime }),
		boolean("enable-replicated-request-compression", "false", "compress what is sent to peers", func(r *Registry) *bool { return &r.Replication.Compress }),
		millis("peer-node-connect-timeout-ms", "200ms", "time to connect to a peer", time.Millisecond, func(r *Registry) *time.Duration { return &r.Replication.ConnectTimeout }),
		millis("peer-node-read-timeout-ms", "200ms", "time for a peer to answer a batch", time.Millisecond, func(r *Registry) *time.Duration { return &r.Replication.ReadTimeout }),
		duration("peer-node-connection-idle-timeout-seconds", "30s", "how long an idle connection to a peer is kept", time.Second, 0, func(r *Registry) *time.Duration { return &r.Replication.IdleTimeout }),
		number("registry-sync-retries", "5", "further attempts to copy a peer's list at the start", 0, 1000, func(r *Registry) *int { return &r.Replication.SyncRetries }),
		millis("registry-sync-retry-wait-ms", "30s", "wait between those attempts", time.Millisecond, func(r *Registry) *time.Duration { return &r.Replication.SyncRetryWait }),
		millis("wait-time-in-ms-when-sync-empty", "5m", "how long after the start reads are refused when no peer has given its list", 0, func(r *Registry) *time.Duration { return &r.Replication.WaitWhenSyncEmpty }),
		number("min-available-instances-for-peer-replication", "-1", "peers that must be available for the registry to count as healthy; -1 means it does not matter", -1, math.MaxInt32, func(r *Registry) *int { return &r.MinAvailablePeers }),
	}
}

func registryLimitKeys() []row[Registry] {
	const most = 1 << 30
	return []row[Registry]{
		number("max-applications", "5000", "most applications; further ones are refused with 503", 1, math.MaxInt32, func(r *Registry) *int { return &r.Limits.Applications }),
		number("max-instances", "50000", "most instances; further ones are refused with 503", 1, math.MaxInt32, func(r *Registry) *int { return &r.Limits.Instances }),
		size("max-instance-size", "64KB", "most bytes of an instance's texts, metadata included", most, func(r *Registry) *int64 { return &r.Limits.InstanceSize }),
		size("max-body-size", "1MB", "longest registration", most, func(r *Registry) *int64 { return &r.Limits.BodySize }),
		size("max-batch-size", "64MB", "longest batch or list of a peer", most, func(r *Registry) *int64 { return &r.Limits.BatchSize }),
		size("max-unsent-size", "256MB", "most bytes of lists that slow readers have not taken yet; beyond that readers get the list as it was, or 503", math.MaxInt64, func(r *Registry) *int64 { return &r.Limits.UnsentSize }),
		number("max-subscribers", "1000", "most open push streams", 0, math.MaxInt32, func(r *Registry) *int { return &r.Limits.Subscribers }),
		number("push-backlog", "64", "events that a push stream may lag behind before it is closed", 1, 1<<20, func(r *Registry) *int { return &r.Limits.PushBacklog }),
		boolean("anonymous-read", "false", "with users, let everybody read lists", func(r *Registry) *bool { return &r.AnonymousRead }),
		text("ssl.certificate", "", "file (PEM) of the registry's certificate and its chain; with one it speaks TLS", func(r *Registry) *string { return &r.TLS.Certificate }),
		text("ssl.certificate-private-key", "", "file (PEM) of its key", func(r *Registry) *string { return &r.TLS.PrivateKey }),
		choice("ssl.client-auth", "none", "whether clients show certificates", []string{"none", "want", "need"}, func(r *Registry) *string { return &r.TLS.ClientAuth }),
		text("ssl.trust-certificate", "", "file (PEM) of the authorities that clients' certificates are from", func(r *Registry) *string { return &r.TLS.TrustCertificate }),
		dead[Registry](Refused, "ssl.**", "of TLS only those listed here"),
	}
}

func registryUser(b *builder, values []string) *RegistryUser {
	users := b.config.Registry.Users
	if users[values[0]] == nil {
		users[values[0]] = &RegistryUser{}
	}
	return users[values[0]]
}

func registryUserKeys() []row[RegistryUser] {
	return []row[RegistryUser]{
		text("password", "", "for basic authentication; as soon as there is a user, everything needs one", func(u *RegistryUser) *string { return &u.Password }),
		text("token", "", "for `Authorization: Bearer`", func(u *RegistryUser) *string { return &u.Token }),
		text("certificate", "", "common name or a DNS name of the user's certificate", func(u *RegistryUser) *string { return &u.Certificate }),
		texts("applications", "", "applications that the user may register and change; a name may end in `*`", func(u *RegistryUser) *[]string { return &u.Applications }),
		boolean("replicate", "false", "the user is a peer", func(u *RegistryUser) *bool { return &u.Replicate }),
		boolean("administer", "false", "the user may do everything", func(u *RegistryUser) *bool { return &u.Administer }),
	}
}

func registryRegionKeys() []Key {
	const urls, whitelist = "eureka.server.remote-region-urls-with-name", "eureka.server.remote-region-app-whitelist"
	keys := lift("eureka.server.", registry,
		row[Registry]{name: "remote-region-urls-with-name", kind: "list of region;url", doc: "registries elsewhere whose lists are shown too", set: setRegionURLs},
		duration("remote-region-registry-fetch-interval", "30s", "how often those are read", time.Second, time.Millisecond, func(r *Registry) *time.Duration { return &r.Regions.FetchInterval }),
		millis("remote-region-read-timeout-ms", "1s", "time to read one of them", time.Millisecond, func(r *Registry) *time.Duration { return &r.Regions.ReadTimeout }),
		boolean("disable-delta-for-remote-regions", "false", "read whole lists from them", func(r *Registry) *bool { return &r.Regions.DisableDelta }),
		boolean("disable-transparent-fallback-to-other-region", "false", "show them only to those who ask for them", func(r *Registry) *bool { return &r.Regions.NoFallback }),
	)
	return append(keys,
		Key{Name: urls + ".<region>", Type: "text", Doc: "the same, one per key", set: func(b *builder, values []string, v *node) error {
			url, err := filled(v)
			b.config.Registry.Regions.URLs[values[0]] = url
			return err
		}},
		Key{Name: whitelist + ".<region>", Type: "list", Doc: "applications of a region that are shown, `global` for regions without an own list", set: func(b *builder, values []string, v *node) error {
			apps, err := textsOf(v)
			for i := range apps {
				apps[i] = strings.ToUpper(apps[i])
			}
			b.config.Registry.Regions.Whitelist[strings.ToLower(values[0])] = apps
			return err
		}},
	)
}

// setRegionURLs reads Netflix's notation, "region;url".
func setRegionURLs(r *Registry, v *node) error {
	pairs, err := textsOf(v)
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		region, url, ok := strings.Cut(pair, ";")
		if !ok || strings.TrimSpace(region) == "" || strings.TrimSpace(url) == "" {
			return fault(v, "is not a list of region;url")
		}
		r.Regions.URLs[strings.TrimSpace(region)] = strings.TrimSpace(url)
	}
	return nil
}

// millis is a duration whose plain numbers are milliseconds.
func millis[T any](name, def, doc string, low time.Duration, field func(*T) *time.Duration) row[T] {
	return duration(name, def, doc, time.Millisecond, low, field)
}

func deadRegistryKeys() []row[Registry] {
	var rows []row[Registry]
	for reason, names := range map[string]string{
		"peers are those of the configuration in force": "peer-eureka-nodes-update-interval-ms",
		"each peer gets one batch at a time": "peer-node-total-connections peer-node-total-connections-per-host min-threads-for-peer-replication max-threads-for-peer-replication " +
			"max-idle-thread-age-in-minutes-for-peer-replication",
		"Eureka does not use it either": "number-of-replication-retries peer-eureka-status-refresh-time-interval-ms batch-replication",
		"there is nothing of AWS": "max-elements-in-status-replication-pool min-threads-for-status-replication max-threads-for-status-replication " +
			"max-idle-thread-in-minutes-age-for-status-replication use-aws-asg-api a-s-g-query-timeout-ms a-s-g-update-interval-ms a-s-g-cache-expiry-timeout-ms " +
			"list-auto-scaling-groups-role-name binding-strategy e-i-p-bind-rebind-retries e-i-p-binding-retry-interval-ms e-i-p-binding-retry-interval-ms-when-unbound " +
			"route53-bind-rebind-retries route53-binding-retry-interval-ms route53-domain-t-t-l prime-aws-replica-connections a-w-s-access-id a-w-s-secret-key",
		"each region is read over one connection": "remote-region-fetch-thread-pool-size remote-region-total-connections remote-region-total-connections-per-host " +
			"remote-region-connection-idle-timeout-seconds remote-region-connect-timeout-ms",
		"lists are compressed whenever the other side can": "g-zip-content-from-remote-region",
		"requests are not logged":                          "log-identity-headers",
		"the forms of the protocol are all there":          "json-codec-name xml-codec-name",
		"`/eureka/status` has the numbers":                 "metrics.enabled",
	} {
		for name := range strings.FieldsSeq(names) {
			rows = append(rows, dead[Registry](Ignored, name, reason))
		}
	}
	slices.SortFunc(rows, func(a, b row[Registry]) int { return strings.Compare(a.name, b.name) })
	return append(rows,
		dead[Registry](Refused, "remote-region-urls", "regions need names: `remote-region-urls-with-name`"),
		dead[Registry](Refused, "remote-region-trust-store", "Java's key stores are not read"),
		dead[Registry](Refused, "remote-region-trust-store-password", "Java's key stores are not read"),
	)
}

// checkRegistry finds what no single setting of the registry shows.
func (b *builder) checkRegistry() {
	r := b.config.Registry
	if !r.Enabled {
		return
	}
	if (r.TLS.Certificate == "") != (r.TLS.PrivateKey == "") {
		if s := b.firstOf("eureka.server.ssl.certificate", "eureka.server.ssl.certificate-private-key"); s != nil {
			b.report.errorf(s.name(), s.at, "needs both certificate and certificate-private-key")
		}
	}
	if s := b.setting("eureka.server.ssl.client-auth"); s != nil && r.TLS.ClientAuth != "none" && (r.TLS.TrustCertificate == "" || r.TLS.Certificate == "") {
		b.report.errorf(s.name(), s.at, "needs certificate and trust-certificate")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Users)) {
		if u := r.Users[name]; u.Password == "" && u.Token == "" && u.Certificate == "" {
			b.report.Add(Finding{Severity: Error, Key: "eureka.server.users." + name, Message: "has no password, token or certificate"})
		}
	}
}
