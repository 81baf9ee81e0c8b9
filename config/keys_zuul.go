package config

import "time"

func zuulKeys() []Key {
	keys := lift("zuul.", zuul, routingRows()...)
	keys = append(keys, lift("", zuul, boolean(retryKey, "true", "`false`: failed requests are not tried again, whatever `zuul.retryable` and the routes say, unless nothing could be sent", func(z *Zuul) *bool { return &z.RetryEnabled }))...)
	keys = append(keys, lift("zuul.", zuul, messageRows()...)...)
	keys = append(keys, lift("zuul.host.", zuulHost, hostRows()...)...)
	keys = append(keys, lift("zuul.", zuul, commandRows()...)...)
	keys = append(keys, semaphoreKey(), disableKey())
	return append(keys, lift("zuul.", zuul, deadZuulRows()...)...)
}

func zuul(b *builder, _ []string) *Zuul         { return &b.config.Zuul }
func zuulHost(b *builder, _ []string) *ZuulHost { return &b.config.Zuul.Host }

func routingRows() []row[Zuul] {
	return []row[Zuul]{
		text("prefix", "", "put in front of the path of every route", func(z *Zuul) *string { return &z.Prefix }),
		boolean("strip-prefix", "true", "remove `zuul.prefix` before forwarding; routes have a `strip-prefix` of their own", func(z *Zuul) *bool { return &z.StripPrefix }),
		boolean("retryable", "false", "whether routes retry failed requests unless they say otherwise", func(z *Zuul) *bool { return &z.Retryable }),
		texts("ignored-services", "", "services without a route from discovery; `*` is a wildcard", func(z *Zuul) *[]string { return &z.IgnoredServices }),
		texts("ignored-patterns", "", "paths that are never routed, prefix included", func(z *Zuul) *[]string { return &z.IgnoredPatterns }),
		boolean("ignore-local-service", "true", "no route from discovery to the gateway itself", func(z *Zuul) *bool { return &z.IgnoreLocalService }),
		optional("decode-url", "(path sent as received)", "written out as `true`: decode the path and encode it anew, as Zuul did", func(z *Zuul) **bool { return &z.DecodeURL }),
		boolean("remove-semicolon-content", "true", "drop `;name=value` from path segments", func(z *Zuul) *bool { return &z.RemoveSemicolonContent }),
		boolean("force-original-query-string-encoding", "false", "URL routes send the client's query even if a filter changed it", func(z *Zuul) *bool { return &z.ForceOriginalQueryStringEncoding }),
	}
}

func messageRows() []row[Zuul] {
	return []row[Zuul]{
		boolean("add-proxy-headers", "true", "send X-Forwarded-* upstream", func(z *Zuul) *bool { return &z.AddProxyHeaders }),
		boolean("add-host-header", "false", "send the client's Host upstream", func(z *Zuul) *bool { return &z.AddHostHeader }),
		texts("ignored-headers", "", "headers dropped in both directions", func(z *Zuul) *[]string { return &z.IgnoredHeaders }),
		dead[Zuul](Ignored, "ignore-security-headers", "it concerns gateways with Spring Security; list headers in `ignored-headers`"),
		texts("sensitive-headers", "Cookie, Set-Cookie, Authorization", "headers dropped in both directions unless a route has a list of its own", func(z *Zuul) *[]string { return &z.SensitiveHeaders }),
		only[Zuul](Ignored, "set-content-length", "true", "Content-Length is sent whenever the length is known"),
		boolean("include-debug-header", "false", "answer debugged requests with X-Zuul-Debug-Header", func(z *Zuul) *bool { return &z.IncludeDebugHeader }),
		size("initial-stream-buffer-size", "8192", "buffer for copying a body", mostBuffer, func(z *Zuul) *int64 { return &z.InitialStreamBufferSize }),
		boolean("ssl-hostname-validation-enabled", "true", "`false`: URL routes accept any certificate", func(z *Zuul) *bool { return &z.SSLHostnameValidationEnabled }),
		boolean("debug.request", "false", "debug every request", func(z *Zuul) *bool { return &z.Debug.Request }),
		text("debug.parameter", "debug", "query parameter that switches on debugging when it is `true`", func(z *Zuul) *string { return &z.Debug.Parameter }),
	}
}

func hostRows() []row[ZuulHost] {
	return []row[ZuulHost]{
		atLeast(1, "max-total-connections", "200", "connections of all URL routes", func(h *ZuulHost) *int { return &h.MaxTotalConnections }),
		atLeast(1, "max-per-route-connections", "20", "connections to one host and port", func(h *ZuulHost) *int { return &h.MaxPerRouteConnections }),
		duration("connect-timeout-millis", "2000", "time to connect; 0 means a day", time.Millisecond, 0, func(h *ZuulHost) *time.Duration { return &h.ConnectTimeout }),
		duration("socket-timeout-millis", "10000", "time without a byte; 0 means a day", time.Millisecond, 0, func(h *ZuulHost) *time.Duration { return &h.SocketTimeout }),
		duration("connection-request-timeout-millis", "-1", "wait for a free connection; negative means as long as `connect-timeout-millis`", time.Millisecond, -time.Millisecond, func(h *ZuulHost) *time.Duration { return &h.ConnectionRequestTimeout }),
		duration("time-to-live", "-1", "age at which a connection is no longer used, with the engine `native`; negative means no limit", time.Millisecond, -time.Millisecond, func(h *ZuulHost) *time.Duration { return &h.TimeToLive }),
		only[ZuulHost](Refused, "time-unit", "MILLISECONDS", "write the unit into `time-to-live`, such as `5m`"),
	}
}

func commandRows() []row[Zuul] {
	return []row[Zuul]{
		choice("ribbon-isolation-strategy", "SEMAPHORE", "what bounds the requests in flight to a service", []string{"SEMAPHORE", "THREAD"}, func(z *Zuul) *string { return &z.Isolation }),
		atLeast(1, "semaphore.max-semaphores", "100", "requests in flight per service", func(z *Zuul) *int { return &z.MaxSemaphores }),
		boolean("thread-pool.use-separate-thread-pools", "false", "with THREAD: a pool per service, not one for all", func(z *Zuul) *bool { return &z.ThreadPool.UseSeparateThreadPools }),
		text("thread-pool.thread-pool-key-prefix", "", "in front of the service id in the key of such a pool", func(z *Zuul) *string { return &z.ThreadPool.ThreadPoolKeyPrefix }),
	}
}

func semaphoreKey() Key {
	set := func(b *builder, values []string, v *node) error {
		n, err := intOf(v, 1, 1<<31-1)
		if err == nil {
			b.config.Zuul.SemaphoreByService[values[0]] = n
		}
		return err
	}
	return Key{
		Name: "zuul.eureka.<service>.semaphore.maxSemaphores", Type: "number", Default: "(zuul.semaphore.max-semaphores)",
		Doc: "requests in flight to this service; works without Eureka", set: set,
	}
}

func disableKey() Key {
	set := func(b *builder, values []string, v *node) error {
		off, err := boolOf(v)
		if off {
			b.config.Zuul.DisabledFilters = append(b.config.Zuul.DisabledFilters, FilterRef{values[0], values[1], v.at})
		}
		return err
	}
	return Key{Name: "zuul.<Filter>.<phase>.disable", Type: "bool", Default: "false", Doc: "switch a filter off, built in or not", set: set}
}

func deadZuulRows() []row[Zuul] {
	return []row[Zuul]{
		dead[Zuul](Ignored, "servlet-path", "there is one entrance, and it always streams"),
		dead[Zuul](Ignored, "use-filter", "there is no servlet container"),
		dead[Zuul](Ignored, "trace-request-body", "requests are not traced with their bodies"),
		dead[Zuul](Ignored, "ribbon.eager-load.enabled", "every service is built when the configuration is loaded"),
		dead[Zuul](Ignored, "max.host.connections", "use `zuul.host.max-total-connections` and `zuul.host.max-per-route-connections`"),
		dead[Zuul](Ignored, "filter.**", "filters are Go code; see docs/writing-filters.md"),
		dead[Zuul](Ignored, "filters.**", "filters are Go code; see docs/writing-filters.md"),
		dead[Zuul](Ignored, "debug-filters.disabled", "use `zuul.DebugFilter.pre.disable`"),
		dead[Zuul](Ignored, "debug.vip", "only filters of Netflix's own read it"),
		dead[Zuul](Ignored, "debug.host", "only filters of Netflix's own read it"),
		dead[Zuul](Ignored, "default.host", "only filters of Netflix's own read it"),
		dead[Zuul](Ignored, "niws.**", "only filters of Netflix's own read it"),
		dead[Zuul](Ignored, "router.**", "only filters of Netflix's own read it"),
		dead[Zuul](Ignored, "use.active.filters", "filters are Go code; see docs/writing-filters.md"),
		dead[Zuul](Ignored, "use.canary.filters", "filters are Go code; see docs/writing-filters.md"),
	}
}
