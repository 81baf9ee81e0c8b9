package config

import (
	"net/netip"
	"strings"
	"time"
)

func serverKeys() []Key {
	return append(lift("", root,
		text("spring.application.name", "application", "name of the gateway, and its own service id", func(c *Config) *string { return &c.Application.Name }),
		row[Config]{name: "spring.profiles.active", kind: "list", doc: "profiles to switch on, unless `--profile` or SPRING_PROFILES_ACTIVE says so", set: readEarlier},
		row[Config]{name: "spring.profiles.include", kind: "list", doc: "further profiles, below the active ones", set: readEarlier},
		row[Config]{name: "spring.config.activate.on-profile", kind: "text", doc: "in a document: it counts only under these profiles (`prod`, `a & !b`, `a \\| b`)", set: readEarlier},
		row[Config]{name: onPlatformKey, kind: "cloud platform", doc: "in a document: it counts only on this platform, such as `kubernetes`; see `spring.main.cloud-platform`", set: readEarlier},
		row[Config]{name: platformKey, kind: strings.Join(platforms[:], ", "), def: "(what the environment tells of)", doc: "the cloud platform; `none` where the environment misleads", set: checkPlatform},
		row[Config]{name: "spring.profiles", kind: "list", doc: "older name of `spring.config.activate.on-profile`", set: readEarlier},
		duration("spring.lifecycle.timeout-per-shutdown-phase", "30s", "how long requests in flight are waited for at shutdown", time.Millisecond, 0, func(c *Config) *time.Duration { return &c.Server.DrainTimeout }),
		number("server.port", "8080", "port of the proxy; 0 means any free one", 0, 65535, func(c *Config) *int { return &c.Server.Port }),
		text("server.address", "", "address of the proxy; empty means all", func(c *Config) *string { return &c.Server.Address }),
		shutdownMode(),
		size("server.max-http-request-header-size", "8KB", "most bytes of a request's line and headers", mostHead, func(c *Config) *int64 { return &c.Server.MaxHeaderSize }),
		size("server.max-http-header-size", "(see above)", "older name of `server.max-http-request-header-size`", mostHead, func(c *Config) *int64 { return &c.Server.MaxHeaderSize }),
		choice("server.http1.engine", "native", "what speaks HTTP/1.1 with clients and upstreams: the gateway's own code, or the standard library's", []string{Native, NetHTTP}, func(c *Config) *string { return &c.Server.Engine }),
		choice("server.error.include-message", "always", "whether the error body says what went wrong", []string{"always", "never", "on-param"}, func(c *Config) *string { return &c.Server.Error.IncludeMessage }),
	), lift("", root, append(deadServerKeys(), servletAccessLogKeys()...)...)...)
}

func deadServerKeys() []row[Config] {
	const noContainer = "there is no servlet container"
	return []row[Config]{
		only[Config](Refused, "server.servlet.context-path", "/", "every path would move; use `zuul.prefix` for the routes"),
		only[Config](Refused, "server.context-path", "/", "every path would move; use `zuul.prefix` for the routes"),
		only[Config](Refused, "server.servlet-path", "/", "every path would move; use `zuul.prefix` for the routes"),
		only[Config](Planned, "server.compression.enabled", "false", "bodies pass as the upstream encoded them"),
		dead[Config](Planned, "server.compression.**", "bodies pass as the upstream encoded them"),
		dead[Config](Ignored, "error.path", "SendErrorFilter answers errors itself; replace it to answer otherwise"),
		dead[Config](Ignored, "server.error.path", "SendErrorFilter answers errors itself; replace it to answer otherwise"),
		only[Config](Ignored, "server.error.include-exception", "false", "there is no exception class to name"),
		dead[Config](Ignored, "server.error.whitelabel.enabled", "browsers always get the plain page"),
		only[Config](Ignored, "server.error.include-stacktrace", "never", "there is no stack trace to include"),
		only[Config](Ignored, "server.error.include-binding-errors", "never", "there is no binding"),
		dead[Config](Ignored, "server.use-forward-headers", "use `server.forward-headers.trusted-proxies`"),
		dead[Config](Ignored, "server.connection-timeout", "use `gateway.limits.idle-timeout`"),
		dead[Config](Ignored, "server.server-header", "the gateway adds no Server header"),
		dead[Config](Ignored, "server.max-http-post-size", "use `gateway.limits.max-request-body`"),
		dead[Config](Ignored, "server.session.**", "there are no sessions"),
		dead[Config](Ignored, "server.display-name", noContainer),
		dead[Config](Ignored, "server.context-parameters.**", noContainer),
		dead[Config](Ignored, "server.jsp-servlet.**", noContainer),
		dead[Config](Ignored, "server.servlet.**", noContainer),
		dead[Config](Ignored, "server.tomcat.**", noContainer),
		dead[Config](Ignored, "server.undertow.**", noContainer),
		dead[Config](Ignored, "server.jetty.**", noContainer),
		dead[Config](Ignored, "server.netty.**", "there is no Netty"),
	}
}

// readEarlier stands for keys that had their effect before values are decoded.
func readEarlier(_ *Config, v *node) error {
	_, err := textsOf(v)
	return err
}

func checkPlatform(_ *Config, v *node) error {
	_, err := platformOf(v)
	return err
}

func shutdownMode() row[Config] {
	const name = "server.shutdown"
	r := row[Config]{name: name, kind: "graceful, immediate", def: "graceful", doc: "whether requests in flight are waited for at shutdown"}
	r.set = func(c *Config, v *node) error {
		var mode string
		err := choice(name, "", "", []string{"graceful", "immediate"}, func(*Config) *string { return &mode }).set(c, v)
		c.Server.Graceful = mode == "graceful"
		return err
	}
	return r
}

func prefixOf(v *node) (netip.Prefix, error) {
	entry, err := filled(v)
	if err != nil {
		return netip.Prefix{}, err
	}
	if addr, err := netip.ParseAddr(entry); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(entry)
	if err != nil {
		return netip.Prefix{}, fault(v, "is not a network (such as 10.0.0.0/8)")
	}
	return prefix.Masked(), nil
}

func managementKeys() []Key {
	return lift("", root,
		number("management.server.port", "8081", "port of the management listener; -1 switches it off, 0 means any free one", -1, 65535, func(c *Config) *int { return &c.Management.Port }),
		row[Config]{name: "management.server.token", kind: "text", doc: "opens the endpoints to `Authorization: Bearer`, 16 characters at least; off loopback nothing can be changed without it or a client certificate", set: parsed(tokenOf, func(c *Config) *string { return &c.Management.Token })},
		choice("management.server.protect", "writes", "what needs the token or certificate: what changes something, or all but the probes", []string{"writes", All}, func(c *Config) *string { return &c.Management.Protect }),
		text("management.server.address", "127.0.0.1", "address of the management listener", func(c *Config) *string { return &c.Management.Address }),
		text("management.endpoints.web.base-path", "/actuator", "path in front of every endpoint", func(c *Config) *string { return &c.Management.BasePath }),
		texts("management.endpoints.web.exposure.include", "*", "endpoints that are served", func(c *Config) *[]string { return &c.Management.Include }),
		texts("management.endpoints.web.exposure.exclude", "", "endpoints that are not, whatever is included", func(c *Config) *[]string { return &c.Management.Exclude }),
		dead[Config](Ignored, "management.port", "use `management.server.port`"),
		dead[Config](Ignored, "management.address", "use `management.server.address`"),
		dead[Config](Ignored, "management.context-path", "use `management.endpoints.web.base-path`"),
		dead[Config](Planned, "management.**", "the endpoints have their standard shape"),
	)
}
