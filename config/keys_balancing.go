package config

import (
	"math"
	"net/url"
	"strings"
	"time"
)

const classType = "class name"

// classRow is a key that names a part. Who puts the parts together knows the names.
func classRow(name, def, doc string, field func(*Balancing) *Class) row[Ribbon] {
	set := func(r *Ribbon, v *node) error {
		class, err := filled(v)
		if err == nil {
			*field(&r.Balancing) = Class{class, v.at}
		}
		return err
	}
	return row[Ribbon]{name: name, kind: classType, def: def, doc: doc, set: set}
}

func classRows() []row[Ribbon] {
	return []row[Ribbon]{
		classRow("NFLoadBalancerRuleClassName", "ZoneAvoidanceRule", "how a server is chosen; docs/load-balancing.md lists the rules", func(b *Balancing) *Class { return &b.Rule }),
		classRow("NFLoadBalancerPingClassName", "DummyPing", "how dead servers are found: `DummyPing` (not at all), `NoOpPing`, `PingConstant`, `PingUrl`, `NIWSDiscoveryPing`", func(b *Balancing) *Class { return &b.Ping }),
		classRow("NIWSServerListClassName", "(listOfServers, else discovery)", "where servers come from: `ConfigurationBasedServerList`, `StaticServerList`, `DiscoveryEnabledNIWSServerList`, `DomainExtractingServerList`", func(b *Balancing) *Class { return &b.List }),
		classRow("NIWSServerListFilterClassName", "ZonePreferenceServerListFilter", "which of them are used: also `ZoneAffinityServerListFilter`, `DefaultNIWSServerListFilter`, `ServerListSubsetFilter`", func(b *Balancing) *Class { return &b.Filter }),
		classRow("NFLoadBalancerClassName", "ZoneAwareLoadBalancer", "whether zones are avoided whatever the rule: also `DynamicServerListLoadBalancer`, `BaseLoadBalancer`, `NoOpLoadBalancer`", func(b *Balancing) *Class { return &b.Balancer }),
		classRow("ServerListUpdaterClassName", "PollingServerListUpdater", "`PollingServerListUpdater` or `EurekaNotificationServerListUpdater`; news from discovery are applied at once with both, the first one also applies the filter at intervals", func(b *Balancing) *Class { return &b.Updater }),
	}
}

// balancingRows are Ribbon's keys.
func balancingRows() []row[Ribbon] {
	rows := []row[Balancing]{
		duration("NFLoadBalancerPingInterval", "30", "wait between two rounds of pings", time.Second, time.Millisecond, func(b *Balancing) *time.Duration { return &b.PingInterval }),
		duration("NFLoadBalancerMaxTotalPingTime", "2", "time for a round; servers that it does not reach stay as they were", time.Second, time.Millisecond, func(b *Balancing) *time.Duration { return &b.PingTimeout }),
		duration("ServerListRefreshInterval", "30000", "wait between two applications of the filter, and readings of a list given in Go", time.Millisecond, time.Millisecond, func(b *Balancing) *time.Duration { return &b.RefreshInterval }),
		duration("ServerWeightTaskTimerInterval", "30000", "age of the weights of WeightedResponseTimeRule", time.Millisecond, time.Millisecond, func(b *Balancing) *time.Duration { return &b.WeightInterval }),
		number("ActiveConnectionsLimit", "-1", "active requests at which a server is full for the rules that look at it; -1 means no limit, or `niws.loadbalancer.availabilityFilteringRule.activeConnectionsLimit`", -1, math.MaxInt32, func(b *Balancing) *int { return &b.ActiveLimit }),
		boolean("EnableZoneAffinity", "false", "use only servers of the gateway's own zone while that is healthy", func(b *Balancing) *bool { return &b.Affinity.Prefer }),
		boolean("EnableZoneExclusivity", "false", "use only servers of the gateway's own zone, even if there is none", func(b *Balancing) *bool { return &b.Affinity.Exclusive }),
		decimal("zoneAffinity.maxLoadPerServer", "0.6", "active requests per server of the own zone from which on all zones are used", 0, math.MaxInt32, func(b *Balancing) *float64 { return &b.Affinity.MaxLoad }),
		share("zoneAffinity.maxBlackOutServesrPercentage", "0.8", "share of its servers out of rotation from which on all zones are used", func(b *Balancing) *float64 { return &b.Affinity.MaxBlackout }),
		number("zoneAffinity.minAvailableServers", "2", "servers of the own zone in rotation below which all zones are used", 0, math.MaxInt32, func(b *Balancing) *int { return &b.Affinity.MinAvailable }),
		number("ServerListSubsetFilter.size", "20", "servers that the subset has", 1, math.MaxInt32, func(b *Balancing) *int { return &b.Subset.Size }),
		share("ServerListSubsetFilter.forceEliminatePercent", "0.1", "share of the subset that changes at each refresh", func(b *Balancing) *float64 { return &b.Subset.Eliminate }),
		number("ServerListSubsetFilter.eliminationFailureThresold", "0", "failures in the current second that a member may have", 0, math.MaxInt32, func(b *Balancing) *int { return &b.Subset.MaxFailures }),
		number("ServerListSubsetFilter.eliminationConnectionThresold", "0", "active requests that a member may have", 0, math.MaxInt32, func(b *Balancing) *int { return &b.Subset.MaxActive }),
		boolean("EnablePrimeConnections", "false", "open a connection to a new server before it gets requests", func(b *Balancing) *bool { return &b.Prime.Enabled }),
		requestPath("PrimeConnectionsURI", "/", "what is asked for then", func(b *Balancing) *string { return &b.Prime.Path }),
		number("MaxRetriesPerServerPrimeConnection", "9", "repeats if that fails", 0, 1000, func(b *Balancing) *int { return &b.Prime.Retries }),
		duration("MaxTotalTimeToPrimeConnections", "30000", "time for all new servers", time.Millisecond, time.Millisecond, func(b *Balancing) *time.Duration { return &b.Prime.MaxTime }),
		share("MinPrimeConnectionsRatio", "1.0", "share of the new servers that need to be done; the first one in any case", func(b *Balancing) *float64 { return &b.Prime.MinRatio }),
		texts("DeploymentContextBasedVipAddresses", "(the service id)", "services to ask discovery for", func(b *Balancing) *[]string { return &b.Discovery.VIPs }),
		boolean("PrioritizeVipAddressBasedServers", "true", "ask for the next of them only if those before have no instance", func(b *Balancing) *bool { return &b.Discovery.Prioritize }),
		boolean("ForceClientPortConfiguration", "false", "use `Port` or `SecurePort` instead of the instances' own", func(b *Balancing) *bool { return &b.Discovery.ForcePort }),
		boolean("UseIPAddrForServer", "false", "call instances from discovery by IP address instead of host name, where they tell it", func(b *Balancing) *bool { return &b.Discovery.UseIP }),
		number("Port", "7001", "port of instances without TLS, with `ForceClientPortConfiguration`", 1, math.MaxUint16, func(b *Balancing) *int { return &b.Discovery.Port }),
		number("SecurePort", "7001", "port of instances with TLS, with `ForceClientPortConfiguration`", 1, math.MaxUint16, func(b *Balancing) *int { return &b.Discovery.SecurePort }),
	}
	return ofRibbon(rows)
}

func ofRibbon(rows []row[Balancing]) []row[Ribbon] {
	lifted := make([]row[Ribbon], len(rows))
	for i, r := range rows {
		lifted[i] = row[Ribbon]{name: r.name, kind: r.kind, def: r.def, doc: r.doc, status: r.status}
		lifted[i].set = func(ribbon *Ribbon, v *node) error { return r.set(&ribbon.Balancing, v) }
	}
	return lifted
}

// balancerKeys are those that do not stand under ribbon.
func balancerKeys() []Key {
	keys := lift("gateway.load-balancing.<service>.", balancing, ownBalancingRows()...)
	keys = append(keys, lift("ZoneAwareNIWSDiscoveryLoadBalancer.<service>.", balancing,
		decimal("triggeringLoadPerServerThreshold", "0.2", "active requests per server from which on the zone with the most is avoided; `<service>` may be `default`", 0, math.MaxInt32, func(b *Balancing) *float64 { return &b.Zones.Load }),
		share("avoidZoneWithBlackoutPercetage", "0.99999", "share of servers out of rotation from which on a zone is avoided", func(b *Balancing) *float64 { return &b.Zones.Blackout }),
	)...)
	return append(keys, lift("", balancers,
		text("gateway.zone", "(by eureka)", "zone of the gateway itself, for the filters that prefer its servers; without it `eureka.instance.metadata-map.zone`, or the first of `eureka.client.availability-zones.<region>`", func(b *Balancers) *string { return &b.Zone }),
		boolean("ZoneAwareNIWSDiscoveryLoadBalancer.enabled", "true", "whether ZoneAwareLoadBalancer looks at zones", func(b *Balancers) *bool { return &b.ZoneAware }),
		boolean("niws.loadbalancer.zoneAvoidanceRule.enabled", "true", "whether ZoneAvoidanceRule looks at zones", func(b *Balancers) *bool { return &b.ZoneAvoidance }),
		boolean("niws.loadbalancer.availabilityFilteringRule.filterCircuitTripped", "true", "take servers out of rotation whose connections fail", func(b *Balancers) *bool { return &b.AvoidTripped }),
		number("niws.loadbalancer.availabilityFilteringRule.activeConnectionsLimit", "-1", "`ActiveConnectionsLimit` of services without their own", -1, math.MaxInt32, func(b *Balancers) *int { return &b.ActiveLimit }),
		duration("niws.loadbalancer.serverStats.activeRequestsCount.effectiveWindowSeconds", "600", "time without a request after which active requests of a server are forgotten", time.Second, time.Second, func(b *Balancers) *time.Duration { return &b.ActiveWindow }),
		boolean("ribbon.eureka.enabled", "true", "whether services without `listOfServers` take their servers from discovery", func(b *Balancers) *bool { return &b.Discover }),
		boolean("ribbon.eureka.approximateZoneFromHostname", "false", "take what follows the first dot of an instance's host as its zone if it names none", func(b *Balancers) *bool { return &b.ApproximateZone }),
	)...)
}

func balancers(b *builder, _ []string) *Balancers { return &b.config.Balancers }

// balancing finds the section of a service; "default" is all services.
func balancing(b *builder, values []string) *Balancing {
	if values[0] == defaultKey {
		return &b.config.Ribbon.Balancing
	}
	return &serviceRibbon(b, values).Balancing
}

// ownBalancingRows are what Ribbon never had.
func ownBalancingRows() []row[Balancing] {
	return []row[Balancing]{
		{name: "hash-on", kind: "source of a key", def: "", doc: "what ConsistentHash goes by: `address`, `path`, `header:<name>` or `cookie:<name>`; `<service>` may be `default`", set: setHashOn},
		{name: "hash-bound", kind: "decimal number", def: "1.25", doc: "times the average of active requests at which ConsistentHash passes a server over, 1 at least; 0 means never", set: setHashBound},
		duration("ewma-decay", "10s", "time in which PeakEwma forgets a response time", time.Millisecond, time.Millisecond, func(b *Balancing) *time.Duration { return &b.Decay }),
		text("weight-key", "weight", "entry of an instance's metadata that Weighted reads", func(b *Balancing) *string { return &b.WeightKey }),
		duration("slow-start", "0s", "time in which the share of a new server grows; 0 means at once", time.Millisecond, 0, func(b *Balancing) *time.Duration { return &b.SlowStart }),
		requestPath("ping-path", "/", "what PingUrl asks for", func(b *Balancing) *string { return &b.PingPath }),
		text("ping-body", "", "answer that PingUrl wants; empty means any with status 200", func(b *Balancing) *string { return &b.PingBody }),
		boolean("ping-parallel", "false", "ping 16 servers at once instead of one after the other", func(b *Balancing) *bool { return &b.PingParallel }),
		boolean("outliers.enabled", "false", "eject servers that do worse than they should", func(b *Balancing) *bool { return &b.Outliers.Enabled }),
		number("outliers.errors-in-a-row", "5", "failed connections and statuses of 500 and above in a row that eject; 0 means they do not", 0, math.MaxInt32, func(b *Balancing) *int { return &b.Outliers.ErrorsInARow }),
		share("outliers.error-share", "0.5", "share of them among the requests of an interval that ejects; 0 means it does not", func(b *Balancing) *float64 { return &b.Outliers.ErrorShare }),
		decimal("outliers.latency-factor", "0", "times the median of all servers that ejects a server with such a mean response time; 0 means never", 0, math.MaxInt32, func(b *Balancing) *float64 { return &b.Outliers.LatencyFactor }),
		number("outliers.min-requests", "20", "requests that a judgement needs", 1, math.MaxInt32, func(b *Balancing) *int { return &b.Outliers.MinRequests }),
		duration("outliers.interval", "1s", "time between two judgements", time.Millisecond, 10*time.Millisecond, func(b *Balancing) *time.Duration { return &b.Outliers.Interval }),
		duration("outliers.base-time", "10s", "how long the first ejection lasts; the n-th in short order lasts n times as long", time.Millisecond, time.Millisecond, func(b *Balancing) *time.Duration { return &b.Outliers.BaseTime }),
		duration("outliers.max-time", "5m", "and at most", time.Millisecond, time.Millisecond, func(b *Balancing) *time.Duration { return &b.Outliers.MaxTime }),
		share("outliers.max-share", "0.5", "share of the servers that may be ejected; one always may if there is another", func(b *Balancing) *float64 { return &b.Outliers.MaxShare }),
		share("outliers.panic-share", "0.3", "share of the servers left in rotation below which all are used; 0 means never", func(b *Balancing) *float64 { return &b.Outliers.PanicShare }),
	}
}

// requestPath is a path, with a query if need be, for requests of the gateway's own.
func requestPath(name, def, doc string, field func(*Balancing) *string) row[Balancing] {
	read := func(v *node) (string, error) {
		path, err := textOf(v)
		if err != nil {
			return "", err
		}
		u, err := url.Parse("http://server/" + strings.TrimPrefix(path, "/"))
		if err != nil || u.Fragment != "" {
			return "", fault(v, "is not the path of a URL")
		}
		return path, nil
	}
	return row[Balancing]{name: name, kind: "path", def: def, doc: doc, set: parsed(read, field)}
}

// setHashBound refuses what is below the average, where nobody could be found.
func setHashBound(b *Balancing, v *node) error {
	bound, err := decimalOf(v, 0, 1000)
	if err == nil && 0 < bound && bound < 1 {
		err = fault(v, "is below 1")
	}
	if err == nil {
		b.Hash.Bound = bound
	}
	return err
}

func setHashOn(b *Balancing, v *node) error {
	source, err := textOf(v)
	if err != nil {
		return err
	}
	kind, name, named := strings.Cut(source, ":")
	kind, name = strings.ToLower(strings.TrimSpace(kind)), strings.TrimSpace(name)
	switch {
	case (kind == "address" || kind == "path") && !named, source == "":
		b.Hash.On = kind
	case (kind == "header" || kind == "cookie") && headerName.MatchString(name):
		b.Hash.On = kind + ":" + name
	default:
		return fault(v, "is none of address, path, header:<name>, cookie:<name>")
	}
	return nil
}
