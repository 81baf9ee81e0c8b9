package config

import (
	"reflect"
	"strings"
)

// startKey is a key that the listeners take from the configuration they were opened
// with, and with them the whole gateway: a reload changes nothing about it.
type startKey struct {
	name  string
	value func(c *Config) any
}

// startKeys is where [Key.Restart] and [Config.NeedRestart] come from.
func startKeys() []startKey {
	return append([]startKey{
		{"server.port", func(c *Config) any { return c.Server.Port }},
		{"server.address", func(c *Config) any { return c.Server.Address }},
		{"server.max-http-request-header-size", func(c *Config) any { return c.Server.MaxHeaderSize }},
		{"server.proxy-protocol.enabled", func(c *Config) any { return c.Server.ProxyProtocol.Enabled }},
		{"server.proxy-protocol.trusted-proxies", func(c *Config) any { return c.Server.ProxyProtocol.TrustedProxies }},
		{"server.proxy-protocol.header-timeout", func(c *Config) any { return c.Server.ProxyProtocol.HeaderTimeout }},
		{"server.proxy-protocol.others", func(c *Config) any { return c.Server.ProxyProtocol.Others }},
		{"server.http1.engine", func(c *Config) any { return c.Server.Engine }},
		{"server.ssl.enabled", func(c *Config) any { return c.TLS() }},
		{"management.server.ssl.enabled", func(c *Config) any { return c.Management.SSL.On() }},
		{"gateway.ssl.redirect-port", func(c *Config) any { return c.Gateway.SSL.RedirectPort }},
		{"gateway.ssl.watch-interval", func(c *Config) any { return c.Gateway.SSL.WatchInterval }},
		{"management.server.port", func(c *Config) any { return c.Management.Port }},
		{"management.server.address", func(c *Config) any { return c.Management.Address }},
		{"gateway.limits.header-timeout", func(c *Config) any { return c.Gateway.Limits.HeaderTimeout }},
		{"gateway.limits.idle-timeout", func(c *Config) any { return c.Gateway.Limits.IdleTimeout }},
		{"gateway.limits.max-request-line", func(c *Config) any { return c.Gateway.Limits.MaxRequestLine }},
		{"gateway.limits.max-headers", func(c *Config) any { return c.Gateway.Limits.MaxHeaders }},
		{"gateway.limits.body-timeout", func(c *Config) any { return c.Gateway.Limits.BodyTimeout }},
		{"gateway.limits.write-timeout", func(c *Config) any { return c.Gateway.Limits.WriteTimeout }},
		{"gateway.limits.max-requests-per-connection", func(c *Config) any { return c.Gateway.Limits.MaxRequestsPerConnection }},
		{"gateway.limits.max-connections", func(c *Config) any { return c.Gateway.Limits.MaxConnections }},
		{"gateway.limits.max-connections-per-client", func(c *Config) any { return c.Gateway.Limits.MaxConnectionsPerClient }},
	}, http2StartKeys()...)
}

// NeedRestart names the keys in which c differs from the configuration that the process
// was started with and which no reload applies: in the order of [Keys], then whole
// sections as "eureka.client.*".
func (c *Config) NeedRestart(started *Config) []string {
	var changed []string
	for _, k := range startKeys() {
		if !reflect.DeepEqual(k.value(c), k.value(started)) {
			changed = append(changed, k.name)
		}
	}
	for _, s := range startSections() {
		if !reflect.DeepEqual(s.value(c), s.value(started)) {
			changed = append(changed, s.name+"*")
		}
	}
	return changed
}

// startSections are sections that a reload does not apply as a whole.
func startSections() []startKey {
	return []startKey{
		{"eureka.client.", func(c *Config) any { return c.Eureka.Client }},
		{"eureka.instance.", func(c *Config) any { return c.Eureka.Instance }},
		{"eureka.server.", func(c *Config) any { return c.Registry }},
		{"management.otlp.", func(c *Config) any { return [...]OTLPExport{c.OTLP.Traces, c.OTLP.Metrics} }},
		{"management.opentelemetry.", func(c *Config) any { return c.OTLP.Resource }},
	}
}

// markStartKeys sets Restart in the rows that startKeys names.
func markStartKeys(keys []Key) []Key {
	start := map[string]bool{}
	for _, k := range startKeys() {
		start[k.name] = true
	}
	start["server.max-http-header-size"] = true // another name of one of them
	for i := range keys {
		keys[i].Restart = start[keys[i].Name]
		for _, s := range startSections() {
			keys[i].Restart = keys[i].Restart || strings.HasPrefix(keys[i].Name, s.name) && keys[i].Status == Supported
		}
	}
	return keys
}
