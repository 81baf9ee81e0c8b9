package config

import (
	"maps"
	"math"
	"slices"
	"time"
)

// The protocols that upstreams are spoken to in.
const (
	HTTP1 = "http1"
	H2    = "h2"  // HTTP/2 over TLS
	H2C   = "h2c" // HTTP/2 without TLS, by prior knowledge
)

// Upstream is gateway.upstream.<upstream>.*: the protocol towards the servers of a service
// or of a URL route. The limits are those of HTTP/2.
type Upstream struct {
	Protocol         string
	MaxStreams       int
	MaxConnections   int
	StreamWindow     int64
	ConnectionWindow int64 // 0: enough for all streams
	MaxHeaderList    int64
	PingInterval     time.Duration // 0: never
	PingTimeout      time.Duration
	WriteTimeout     time.Duration
}

// Upstreams is gateway.upstream, the protocols of all. Use UpstreamFor.
type Upstreams struct {
	All Upstream             // "*"
	Own map[string]*Upstream // by service or route id, completed from All
}

const (
	upstreamPrefix     = "gateway.upstream.<upstream>."
	mostUpstreamWindow = 1 << 30
)

func upstreamKeys() []Key {
	return lift(upstreamPrefix, upstream,
		choice("protocol", HTTP1, "what the upstreams are spoken to in: HTTP/1.1, HTTP/2 over TLS, HTTP/2 without TLS; `<upstream>` is a service, the id of a URL route, or `*` for all, over which the others win", []string{HTTP1, H2, H2C}, func(u *Upstream) *string { return &u.Protocol }),
		number("http2.max-streams", "100", "requests that share a connection at most; a server may allow fewer", 1, math.MaxInt32, func(u *Upstream) *int { return &u.MaxStreams }),
		number("http2.max-connections", "8", "connections to one server at most; a request that finds them all full waits for ConnectTimeout at most", 1, math.MaxInt16, func(u *Upstream) *int { return &u.MaxConnections }),
		size("http2.stream-window", "256KB", "how much of a response is received ahead of its client", mostUpstreamWindow, func(u *Upstream) *int64 { return &u.StreamWindow }),
		size("http2.connection-window", "0", "the same for all streams of a connection together; 0 means as much as they may need", mostUpstreamWindow, func(u *Upstream) *int64 { return &u.ConnectionWindow }),
		size("http2.max-header-list", "256KB", "longest header or trailer section of a response", mostHead, func(u *Upstream) *int64 { return &u.MaxHeaderList }),
		duration("http2.ping-interval", "30s", "silence of a connection after which it is asked whether it is still there; 0 means never", time.Millisecond, 0, func(u *Upstream) *time.Duration { return &u.PingInterval }),
		duration("http2.ping-timeout", "15s", "time to answer that, after which the connection is closed", time.Millisecond, time.Millisecond, func(u *Upstream) *time.Duration { return &u.PingTimeout }),
		duration("http2.write-timeout", "30s", "how long a server may take nothing of what is sent before its connection is closed", time.Millisecond, time.Millisecond, func(u *Upstream) *time.Duration { return &u.WriteTimeout }),
	)
}

func upstream(b *builder, values []string) *Upstream {
	u := &b.config.Gateway.Upstream
	if values[0] == everyUpstream {
		return &u.All
	}
	own, ok := u.Own[values[0]]
	if !ok {
		completed := u.All
		own = &completed
		u.Own[values[0]] = own
	}
	return own
}

// UpstreamFor gives the settings of a service or of a URL route: its own over those of "*".
func (c *Config) UpstreamFor(id string) Upstream {
	if own, ok := c.Gateway.Upstream.Own[id]; ok {
		return *own
	}
	return c.Gateway.Upstream.All
}

// checkUpstreams finds limits of HTTP/2 for upstreams that are spoken to in HTTP/1.1. Under
// "*" they may be meant for one that is not.
func (b *builder) checkUpstreams() {
	limits := []string{"max-streams", "max-connections", "stream-window", "connection-window", "max-header-list", "ping-interval", "ping-timeout", "write-timeout"}
	for _, id := range slices.Sorted(maps.Keys(b.config.Gateway.Upstream.Own)) {
		for _, name := range limits {
			s := b.setting("gateway.upstream." + id + ".http2." + name)
			if s != nil && b.config.UpstreamFor(id).Protocol == HTTP1 {
				b.report.warnf(s.name(), s.at, "has no effect with the protocol %s", HTTP1)
			}
		}
	}
}
