package config

import (
	"math"
	"slices"
	"strings"
	"time"
)

func ribbonKeys() []Key {
	keys := lift("<service>.ribbon.", serviceRibbon, ribbonRows()...)
	for _, k := range lift("ribbon.", globalRibbon, ribbonRows()...) {
		if k.Status == Supported {
			k.Doc = "the same for every service without a value of its own"
		}
		keys = append(keys, k)
	}
	for i, k := range keys[:len(keys)/2] {
		if k.Status == Supported && k.Type != classType {
			keys[i].Default = "(ribbon." + strings.TrimPrefix(k.Name, "<service>.ribbon.") + ")"
		}
	}
	keys = append(keys, lift("ribbon.", globalRibbon, deadRibbonRows()...)...)
	return append(keys, lift("niws.loadbalancer.<service>.", tripping, tripRows()...)...)
}

// tripping finds the section of a service; "default" is all services.
func tripping(b *builder, values []string) *Trip {
	if values[0] == defaultKey {
		return &b.config.Ribbon.Trip
	}
	return &serviceRibbon(b, values).Trip
}

func tripRows() []row[Trip] {
	return []row[Trip]{
		atLeast(1, "connectionFailureCountThreshold", "3", "failures in a row that take a server out of rotation; `<service>` may be `default`", func(t *Trip) *int { return &t.Failures }),
		duration("circuitTripTimeoutFactorSeconds", "10", "for how long at first; it doubles with every further failure", time.Second, time.Millisecond, func(t *Trip) *time.Duration { return &t.Factor }),
		duration("circuitTripMaxTimeoutSeconds", "30", "and at most", time.Second, time.Millisecond, func(t *Trip) *time.Duration { return &t.Max }),
	}
}

func globalRibbon(b *builder, _ []string) *Ribbon { return &b.config.Ribbon }

func serviceRibbon(b *builder, values []string) *Ribbon {
	own, ok := b.config.Services[values[0]]
	if !ok {
		completed := b.config.Ribbon
		own = &completed
		b.config.Services[values[0]] = own
	}
	return own
}

func ribbonRows() []row[Ribbon] {
	return slices.Concat(callRows(), poolRows(), classRows(), deadClientRows())
}

func callRows() []row[Ribbon] {
	return []row[Ribbon]{
		{name: "listOfServers", kind: "list of host:port", doc: "instances of the service; `http://` or `https://` in front is kept", set: setServers},
		duration("ConnectTimeout", "1000", "time to connect", time.Millisecond, time.Millisecond, func(r *Ribbon) *time.Duration { return &r.ConnectTimeout }),
		duration("ReadTimeout", "1000", "time until the response begins, and between its bytes", time.Millisecond, time.Millisecond, func(r *Ribbon) *time.Duration { return &r.ReadTimeout }),
		number("MaxAutoRetries", "0", "repeats on the same server", 0, 1000, func(r *Ribbon) *int { return &r.MaxAutoRetries }),
		number("MaxAutoRetriesNextServer", "1", "further servers to try", 0, 1000, func(r *Ribbon) *int { return &r.MaxAutoRetriesNextServer }),
		boolean("OkToRetryOnAllOperations", "false", "retry other methods than GET too", func(r *Ribbon) *bool { return &r.OkToRetryOnAllOperations }),
		{name: "retryableStatusCodes", kind: "list of statuses", doc: "responses that count as failed attempts", set: setStatuses},
		optional("IsSecure", "(by scheme or port)", "whether to use https", func(r *Ribbon) **bool { return &r.Secure }),
		{name: "securePorts", kind: "list of ports", def: "443, 8443", doc: "ports that mean https when nothing else says so", set: setSecurePorts},
	}
}

func poolRows() []row[Ribbon] {
	return []row[Ribbon]{
		atLeast(1, "MaxTotalConnections", "200", "connections to all servers of the service", func(r *Ribbon) *int { return &r.MaxTotalConnections }),
		atLeast(1, "MaxConnectionsPerHost", "50", "connections to one server", func(r *Ribbon) *int { return &r.MaxConnectionsPerHost }),
		atLeast(1, "MaxTotalHttpConnections", "(MaxTotalConnections)", "older name of MaxTotalConnections", func(r *Ribbon) *int { return &r.MaxTotalConnections }),
		atLeast(1, "MaxHttpConnectionsPerHost", "(MaxConnectionsPerHost)", "older name of MaxConnectionsPerHost", func(r *Ribbon) *int { return &r.MaxConnectionsPerHost }),
		duration("PoolKeepAliveTime", "900", "age at which a connection is no longer used, with the engine `native`", time.Second, time.Second, func(r *Ribbon) *time.Duration { return &r.PoolKeepAlive }),
		duration("ConnectionManagerTimeout", "2000", "wait for a free connection, within the deadline of the request", time.Millisecond, time.Millisecond, func(r *Ribbon) *time.Duration { return &r.AcquireTimeout }),
		duration("ConnIdleEvictTimeMilliSeconds", "30000", "how long an idle connection is kept", time.Millisecond, time.Millisecond, func(r *Ribbon) *time.Duration { return &r.IdleTimeout }),
	}
}

func deadClientRows() []row[Ribbon] {
	rows := []row[Ribbon]{
		only[Ribbon](Refused, "FollowRedirects", "false", "redirects go to the client"),
		only[Ribbon](Planned, "EnableZoneAffinity", "false", "zones come with discovery"),
		only[Ribbon](Planned, "EnableZoneExclusivity", "false", "zones come with discovery"),
		only[Ribbon](Planned, "UseIPAddrForServer", "false", "it concerns instances from discovery"),
		only[Ribbon](Ignored, "EnablePrimeConnections", "false", "connections are opened when they are needed"),
		only[Ribbon](Ignored, "EnableConnectionPool", "true", "connections are always pooled"),
		dead[Ribbon](Refused, "TrustStore", "upstream certificates are checked against the system's roots"),
		dead[Ribbon](Refused, "KeyStore", "client certificates"),
		dead[Ribbon](Refused, "ProxyHost", "upstreams are reached directly"),
		dead[Ribbon](Refused, "ForceClientPortConfiguration", "instances keep their own ports"),
		dead[Ribbon](Planned, "BackoffInterval", "retries follow at once"),
		dead[Ribbon](Planned, "BackoffTimeout", "retries follow at once"),
		only[Ribbon](Refused, "PoolKeepAliveTimeUnits", "SECONDS", "write the unit into `PoolKeepAliveTime`, such as `15m`"),
		dead[Ribbon](Planned, "NFLoadBalancerPingInterval", "servers are not pinged"),
		dead[Ribbon](Planned, "NFLoadBalancerMaxTotalPingTime", "servers are not pinged"),
		dead[Ribbon](Planned, "ServerListRefreshInterval", "a static list changes only with the configuration"),
		dead[Ribbon](Planned, "ActiveConnectionsLimit", "the rule does not look at it"),
		dead[Ribbon](Planned, "ServerWeightTaskTimerInterval", "there are no weights"),
	}
	for _, name := range meaninglessRibbonNames() {
		rows = append(rows, dead[Ribbon](Ignored, name, "it configures a part of the Java client that does not exist here"))
	}
	return rows
}

func meaninglessRibbonNames() []string {
	return []string{
		"AppName", "Version", "VipAddress", "DeploymentContextBasedVipAddresses", "VipAddressResolverClassName",
		"PrioritizeVipAddressBasedServers", "TargetRegion", "Port", "SecurePort", "RequestSpecificRetryOn", "GZipPayload",
		"EnableGZIPContentEncodingFilter", "PoolMinThreads", "PoolMaxThreads", "ConnectionPoolCleanerTaskEnabled",
		"ConnectionCleanerRepeatInterval", "StaleCheckingEnabled", "Linger", "ReceiveBufferSize", "SendBufferSize", "ProxyPort",
		"KeyStorePassword", "TrustStorePassword", "IsClientAuthRequired", "IsHostnameValidationRequired",
		"IgnoreUserTokenInConnectionPoolForSecureClient", "CustomSSLSocketFactoryClassName", "RequestIdHeaderName",
		"RulePredicateClasses", "ClientClassName", "InitializeNFLoadBalancer", "EnableMarkingServerDownOnReachingFailureLimit",
		"ServerDownFailureLimit", "ServerDownStatWindowInMillis", "PrimeConnectionsClassName", "PrimeConnectionsURI",
		"MaxRetriesPerServerPrimeConnection", "MaxTotalTimeToPrimeConnections", "MinPrimeConnectionsRatio",
		"NFLoadBalancerStatsClassName", "ServerListUpdaterClassName", "listener.**",
	}
}

func deadRibbonRows() []row[Ribbon] {
	return []row[Ribbon]{
		only[Ribbon](Planned, "eureka.enabled", "false", "there is no discovery; services need `listOfServers`"),
		dead[Ribbon](Planned, "eureka.**", "there is no discovery; services need `listOfServers`"),
		only[Ribbon](Ignored, "httpclient.enabled", "true", "there is one built-in client"),
		only[Ribbon](Ignored, "okhttp.enabled", "false", "there is one built-in client"),
		only[Ribbon](Ignored, "restclient.enabled", "false", "there is one built-in client"),
		dead[Ribbon](Ignored, "http.client.enabled", "there is one built-in client"),
		dead[Ribbon](Ignored, "eager-load.**", "every service is built when the configuration is loaded"),
	}
}

func setStatuses(r *Ribbon, v *node) (err error) {
	r.RetryableStatusCodes, err = numbersOf(v, 100, 599)
	return err
}

func setSecurePorts(r *Ribbon, v *node) (err error) {
	r.SecurePorts, err = numbersOf(v, 1, math.MaxUint16)
	return err
}

func numbersOf(v *node, low, high int) ([]int, error) {
	return each(v, func(e *node) (int, error) { return intOf(e, low, high) })
}

const classType = "class name"

// classRow is a key that names a Java class. Of its short names, some are what is done
// anyway, some are close enough for a warning; the rest is refused.
func classRow(name string, same, near []string, instead string) row[Ribbon] {
	set := func(_ *Ribbon, v *node) error {
		class, err := filled(v)
		if err != nil {
			return err
		}
		short := class[strings.LastIndexAny(class, ".$")+1:]
		switch {
		case slices.Contains(same, short):
			return nil
		case slices.Contains(near, short):
			return deviation{Planned, instead + " instead of " + short}
		}
		return fault(v, "is not supported; %s", instead)
	}
	return row[Ribbon]{name: name, kind: classType, def: "(" + same[0] + ")", doc: instead, set: set}
}

func classRows() []row[Ribbon] {
	return []row[Ribbon]{
		classRow("NFLoadBalancerRuleClassName", []string{"RoundRobinRule"}, []string{"ZoneAvoidanceRule", "AvailabilityFilteringRule"}, "round robin is used"),
		classRow("NFLoadBalancerPingClassName", []string{"DummyPing", "NoOpPing"}, nil, "servers are not pinged"),
		classRow("NIWSServerListClassName", []string{"ConfigurationBasedServerList"}, nil, "`listOfServers` is used"),
		classRow("NIWSServerListFilterClassName", []string{"ZonePreferenceServerListFilter", "ZoneAffinityServerListFilter"}, nil, "all servers are used"),
		classRow("NFLoadBalancerClassName", []string{"ZoneAwareLoadBalancer", "DynamicServerListLoadBalancer", "BaseLoadBalancer"}, nil, "there is one built-in balancer"),
	}
}
