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
		if k.Status == Supported {
			keys[i].Default = "(ribbon." + strings.TrimPrefix(k.Name, "<service>.ribbon.") + ")"
		}
	}
	keys = append(keys, listenerKey("<service>.ribbon.", serviceRibbon), listenerKey("ribbon.", globalRibbon))
	keys = append(keys, lift("ribbon.", globalRibbon, deadRibbonRows()...)...)
	keys = append(keys, lift("niws.loadbalancer.<service>.", tripping, tripRows()...)...)
	return append(keys, balancerKeys()...)
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
	return slices.Concat(callRows(), backoffRows(), poolRows(), classRows(), balancingRows(), deadClientRows())
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
		only[Ribbon](Ignored, "EnableConnectionPool", "true", "connections are always pooled"),
		dead[Ribbon](Refused, "TrustStore", "Java key stores; use a PEM file, `gateway.tls.<service>.trust-certificate`"),
		dead[Ribbon](Refused, "KeyStore", "Java key stores; use PEM files, `gateway.tls.<service>.certificate` and `certificate-private-key`"),
		dead[Ribbon](Ignored, "TrustStorePassword", "PEM files of authorities need none; see `gateway.tls.<service>.trust-certificate`"),
		dead[Ribbon](Ignored, "KeyStorePassword", "keys are PEM files without one; see `gateway.tls.<service>.certificate-private-key`"),
		only[Ribbon](Ignored, "IsClientAuthRequired", "false", "a client certificate is shown where `gateway.tls.<service>.certificate` names one"),
		only[Ribbon](Refused, "IsHostnameValidationRequired", "true", "use `gateway.tls.<service>.server-name`, or `verify: false`"),
		dead[Ribbon](Refused, "ProxyHost", "upstreams are reached directly"),
		only[Ribbon](Refused, "PoolKeepAliveTimeUnits", "SECONDS", "write the unit into `PoolKeepAliveTime`, such as `15m`"),
	}
	for _, name := range meaninglessRibbonNames() {
		rows = append(rows, dead[Ribbon](Ignored, name, "it configures a part of the Java client that does not exist here"))
	}
	return rows
}

func meaninglessRibbonNames() []string {
	return []string{
		"AppName", "Version", "VipAddress", "VipAddressResolverClassName",
		"TargetRegion", "RequestSpecificRetryOn", "GZipPayload",
		"EnableGZIPContentEncodingFilter", "PoolMinThreads", "PoolMaxThreads", "ConnectionPoolCleanerTaskEnabled",
		"ConnectionCleanerRepeatInterval", "StaleCheckingEnabled", "Linger", "ReceiveBufferSize", "SendBufferSize", "ProxyPort",
		"IgnoreUserTokenInConnectionPoolForSecureClient", "CustomSSLSocketFactoryClassName", "RequestIdHeaderName",
		"RulePredicateClasses", "ClientClassName", "InitializeNFLoadBalancer", "EnableMarkingServerDownOnReachingFailureLimit",
		"ServerDownFailureLimit", "ServerDownStatWindowInMillis", "PrimeConnectionsClassName",

		"NFLoadBalancerStatsClassName", "listener.**",
	}
}

func deadRibbonRows() []row[Ribbon] {
	return []row[Ribbon]{
		dead[Ribbon](Ignored, "eureka.**", "it configures a part of the Java client that does not exist here"),
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
