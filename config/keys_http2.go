package config

import "time"

// The bounds of what net/http's server accepts.
const (
	leastFrame  = 16 << 10
	mostFrame   = 1<<24 - 1
	leastWindow = 64 << 10
	mostWindow  = 4<<20 - 1
	mostTable   = 1 << 20
)

func http2Keys() []Key {
	return append(lift("", root,
		boolean("server.http2.enabled", "false", "serve HTTP/2 too: on the plain port to clients that begin with it (h2c by prior knowledge), over TLS to those that choose `h2` by ALPN", func(c *Config) *bool { return &c.Server.HTTP2 }),
	), lift("gateway.http2.", http2,
		number("max-concurrent-streams", "100", "requests that a connection may have open at a time", 1, 10_000, func(h *HTTP2) *int { return &h.Streams }),
		sizeFrom("max-frame-size", "16KB", "longest frame that is accepted", leastFrame, mostFrame, func(h *HTTP2) *int64 { return &h.FrameSize }),
		sizeFrom("stream-window", "256KB", "how much of one request body is buffered before its client has to wait", leastWindow, mostWindow, func(h *HTTP2) *int64 { return &h.StreamWindow }),
		sizeFrom("connection-window", "1MB", "how much of all request bodies of a connection is buffered", leastWindow, mostWindow, func(h *HTTP2) *int64 { return &h.ConnectionWindow }),
		sizeFrom("header-table-size", "4KB", "the header compression table of each direction of a connection", 1, mostTable, func(h *HTTP2) *int64 { return &h.TableSize }),
		duration("ping-interval", "60s", "after how much silence a client is asked whether it is there; 0 means never", time.Millisecond, 0, func(h *HTTP2) *time.Duration { return &h.PingInterval }),
		duration("ping-timeout", "15s", "how long it may take to answer", time.Millisecond, time.Millisecond, func(h *HTTP2) *time.Duration { return &h.PingTimeout }),
		duration("max-connection-age", "0s", "age from which a connection is ended politely with its next answer; 0 means no limit", time.Millisecond, 0, func(h *HTTP2) *time.Duration { return &h.MaxAge }),
		number("flood.max-resets", "1000", "streams that a client may reset, or make the gateway reset, in an interval, with the engine `native`; 0 means no limit", 0, 1<<30, func(h *HTTP2) *int { return &h.Resets }),
		number("flood.max-control-frames", "1000", "frames without content (PING, SETTINGS, PRIORITY, empty DATA) beyond those with some that a client may send in an interval, with the engine `native`; 0 means no limit", 0, 1<<30, func(h *HTTP2) *int { return &h.Control }),
		number("flood.max-continuations", "32", "frames that may continue one header block, with the engine `native`; 0 means no limit", 0, 1<<30, func(h *HTTP2) *int { return &h.Continuations }),
		duration("flood.interval", "30s", "that interval", time.Millisecond, 100*time.Millisecond, func(h *HTTP2) *time.Duration { return &h.Interval }),
	)...)
}

func http2(b *builder, _ []string) *HTTP2 { return &b.config.Gateway.HTTP2 }

// sizeFrom is a size with a least value.
func sizeFrom[T any](name, def, doc string, least, most int64, field func(*T) *int64) row[T] {
	r := size(name, def, doc, most, field)
	read := r.set
	r.set = func(t *T, v *node) error {
		if n, err := sizeOf(v); err == nil && n < least {
			return fault(v, "is too small (at least %s)", sizeName(least))
		}
		return read(t, v)
	}
	return r
}

// http2StartKeys are those that the listeners have taken when they were opened: all.
func http2StartKeys() []startKey {
	return []startKey{
		{"server.http2.enabled", func(c *Config) any { return c.Server.HTTP2 }},
		{"gateway.http2.max-concurrent-streams", func(c *Config) any { return c.Gateway.HTTP2.Streams }},
		{"gateway.http2.max-frame-size", func(c *Config) any { return c.Gateway.HTTP2.FrameSize }},
		{"gateway.http2.stream-window", func(c *Config) any { return c.Gateway.HTTP2.StreamWindow }},
		{"gateway.http2.connection-window", func(c *Config) any { return c.Gateway.HTTP2.ConnectionWindow }},
		{"gateway.http2.header-table-size", func(c *Config) any { return c.Gateway.HTTP2.TableSize }},
		{"gateway.http2.ping-interval", func(c *Config) any { return c.Gateway.HTTP2.PingInterval }},
		{"gateway.http2.ping-timeout", func(c *Config) any { return c.Gateway.HTTP2.PingTimeout }},
		{"gateway.http2.max-connection-age", func(c *Config) any { return c.Gateway.HTTP2.MaxAge }},
		{"gateway.http2.flood.max-resets", func(c *Config) any { return c.Gateway.HTTP2.Resets }},
		{"gateway.http2.flood.max-control-frames", func(c *Config) any { return c.Gateway.HTTP2.Control }},
		{"gateway.http2.flood.max-continuations", func(c *Config) any { return c.Gateway.HTTP2.Continuations }},
		{"gateway.http2.flood.interval", func(c *Config) any { return c.Gateway.HTTP2.Interval }},
	}
}
