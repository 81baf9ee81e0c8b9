package gozer

import (
	"strings"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/h2client"
	"github.com/gozer-gateway/gozer/internal/http1"
)

// upstreamConnections are the settings of a pool. Limits of HTTP/2 are no reason to replace
// a pool of HTTP/1.1.
func upstreamConnections(engine string, u config.Upstream, settings http1.TransportSettings) connections {
	if u.Protocol == config.HTTP1 {
		return connections{engine: engine, TransportSettings: settings, protocol: u.Protocol}
	}
	settings.MaxHeaderBytes = u.MaxHeaderList
	ping := u.PingInterval
	if ping == 0 {
		ping = -1
	}
	return connections{engine, settings, u.Protocol, h2client.Limits{
		Cleartext:        u.Protocol == config.H2C,
		MaxStreams:       u.MaxStreams,
		MaxConnections:   u.MaxConnections,
		StreamWindow:     u.StreamWindow,
		ConnectionWindow: u.ConnectionWindow,
		PingInterval:     ping,
		PingTimeout:      u.PingTimeout,
		WriteTimeout:     u.WriteTimeout,
	}}
}

// upstreamOf is the entry of gateway.upstream and gateway.tls that the key of a pool stands for.
func upstreamOf(key string) string {
	if key == urlRoutes {
		return everyUpstream
	}
	return strings.TrimPrefix(key, routePool)
}
