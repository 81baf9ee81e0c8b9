package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The bounds of what is allocated per request or connection, so that a slip of the
// unit does not end the process.
const (
	mostHead   = 1 << 20
	mostBuffer = 1 << 20
	mostReplay = 64 << 20
)

func gatewayKeys() []Key {
	keys := lift("gateway.", gateway,
		boolean("via", "true", "add `gozer` to the `Via` field of requests, and refuse those that go in a circle with 508", func(g *Gateway) *bool { return &g.Via }),
		boolean("compat.error-status", "false", "answer routing failures with 500 nearly always, as Zuul did", func(g *Gateway) *bool { return &g.Compat.ErrorStatus }),
		boolean("compat.zone-avoidance", "false", "leave one zone more whenever a zone is empty or out of rotation, as Ribbon did", func(g *Gateway) *bool { return &g.Compat.ZoneAvoidance }),
		size("limits.max-replay-body", "64KB", "longest request body that is kept so that it can be sent again", mostReplay, func(g *Gateway) *int64 { return &g.Limits.MaxReplayBody }),
		size("limits.max-request-body", "0", "longest request body; 0 means no limit", math.MaxInt64, func(g *Gateway) *int64 { return &g.Limits.MaxRequestBody }),
		duration("limits.header-timeout", "10s", "time for a client to send its request head; 0 means no limit", time.Millisecond, 0, func(g *Gateway) *time.Duration { return &g.Limits.HeaderTimeout }),
		duration("limits.idle-timeout", "60s", "how long an idle client connection is kept; 0 means no limit", time.Millisecond, 0, func(g *Gateway) *time.Duration { return &g.Limits.IdleTimeout }),
		size("limits.max-request-line", "8KB", "longest request line; with `nethttp` the limit of the head counts", mostHead, func(g *Gateway) *int64 { return &g.Limits.MaxRequestLine }),
		number("limits.max-headers", "100", "most header lines of a request, with the engine `native`", 1, 10_000, func(g *Gateway) *int { return &g.Limits.MaxHeaders }),
		duration("limits.body-timeout", "30s", "each wait for more of a request body, with the engine `native`; 0 means no limit", time.Millisecond, 0, func(g *Gateway) *time.Duration { return &g.Limits.BodyTimeout }),
		duration("limits.write-timeout", "60s", "each wait for a client to take more of a response, with the engine `native`; 0 means no limit", time.Millisecond, 0, func(g *Gateway) *time.Duration { return &g.Limits.WriteTimeout }),
		number("limits.max-requests-per-connection", "0", "requests after which a client connection is closed, with the engine `native`; 0 means no limit", 0, math.MaxInt32, func(g *Gateway) *int { return &g.Limits.MaxRequestsPerConnection }),
		number("limits.max-connections", "0", "open client connections, with the engine `native`; 0 means no limit", 0, math.MaxInt32, func(g *Gateway) *int { return &g.Limits.MaxConnections }),
		number("limits.max-connections-per-client", "0", "open connections of one client address, with the engine `native`; 0 means no limit", 0, math.MaxInt32, func(g *Gateway) *int { return &g.Limits.MaxConnectionsPerClient }),
		duration("limits.tunnel-idle-timeout", "5m", "how long a connection that has switched protocols may be silent", time.Millisecond, time.Millisecond, func(g *Gateway) *time.Duration { return &g.Limits.TunnelIdleTimeout }),
		row[Gateway]{name: "service-route-mapper.service-pattern", kind: "regular expression", verbatim: true, doc: "taken apart to make the path of a discovered service, with `(?P<name>…)` groups", set: setServicePattern},
		row[Gateway]{name: "service-route-mapper.route-pattern", kind: "text", verbatim: true, doc: "that path, with `${name}` for the groups", set: parsed(textOf, func(g *Gateway) *string { return &g.Mapper.RoutePattern })},
		dead[Gateway](Refused, "request-id.**", "of the request id only those listed here"),
		dead[Gateway](Refused, "limits.**", "of the limits only those listed here"),
		dead[Gateway](Refused, "compat.**", "of the switches only those listed here"),
		dead[Gateway](Refused, "routes.**", "routes have what `zuul.routes` gives them"),
	)
	keys = append(keys, accessLogKeys()...)
	keys = append(keys, shutdownKeys()...)
	keys = append(keys, resilienceKeys()...)
	keys = append(keys, upstreamTLSKeys()...)
	keys = append(keys, upstreamKeys()...)
	keys = append(keys, lift("gateway.fallback.<service>.", fallback,
		number("status", "200", "status of the answer when the service fails; `<service>` may be `*`", 200, 599, func(f *Fallback) *int { return &f.Status }),
		row[Fallback]{name: "body", kind: "text", doc: "its body", set: setBody},
	)...)
	return append(append(keys, reloadKeys()...), fallbackHeader(), filterBlock(), filterSetting(),
		Key{Name: "logging.level.<logger>", Type: "trace, debug, info, warn, error, fatal, off", Default: "info", Doc: "least level that is logged by `root`, the one logger; other names have no effect", set: setLogLevel},
		Key{Name: "info.**", Type: "anything", Doc: "shown by /actuator/info; values under names like `password` or `token` are not", set: setInfo},
	)
}

func gateway(b *builder, _ []string) *Gateway { return &b.config.Gateway }

func fallback(b *builder, values []string) *Fallback {
	f, ok := b.config.Gateway.Fallback[values[0]]
	if !ok {
		f = &Fallback{Status: 200, Headers: map[string]string{}}
		b.config.Gateway.Fallback[values[0]] = f
	}
	return f
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// setBody keeps blanks and line ends.
func setBody(f *Fallback, v *node) error {
	_, err := textOf(v)
	f.Body = v.text
	return err
}

func fallbackHeader() Key {
	set := func(b *builder, values []string, v *node) error {
		value, err := textOf(v)
		switch {
		case err != nil:
			return err
		case !headerName.MatchString(values[1]):
			return fmt.Errorf("%q is no header name", values[1])
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return errors.New("a header value cannot hold control characters")
		}
		fallback(b, values).Headers[values[1]] = value
		return nil
	}
	return Key{Name: "gateway.fallback.<service>.headers.<name>", Type: "text", Doc: "a header of that answer", set: set}
}

func setServicePattern(g *Gateway, v *node) error {
	expression, err := textOf(v)
	if err != nil {
		return err
	}
	if _, err := regexp.Compile(expression); err != nil {
		return fault(v, "is no regular expression: %s", err)
	}
	g.Mapper.ServicePattern = expression
	return nil
}

const sectionType = "section"

func filterBlock() Key {
	set := func(b *builder, values []string, v *node) error {
		if v.kind != table {
			return fmt.Errorf("expected a section, found %s", v.kind)
		}
		b.filter(values[0], v)
		return nil
	}
	return Key{Name: "gateway.filters.<name>", Type: sectionType, Doc: "settings of a filter; docs/filters.md lists those of the built-in ones", set: set}
}

// filterSetting is the dotted form of filterBlock.
func filterSetting() Key {
	set := func(b *builder, values []string, v *node) error {
		b.filter(values[0], nested(splitKey(values[1]), v))
		return nil
	}
	return Key{Name: "gateway.filters.<name>.**", Type: "anything", Doc: "one setting of a filter", set: set}
}

func nested(path []string, v *node) *node {
	for _, name := range slices.Backward(path) {
		v = &node{kind: table, at: v.at, fields: []field{{name, v, v.at}}}
	}
	return v
}

const rootLogger = "root"

func setLogLevel(b *builder, values []string, v *node) error {
	var level string
	levels := []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"}
	pick := choice("", "", "", levels, func(*Config) *string { return &level })
	if err := pick.set(b.config, v); err != nil {
		return err
	}
	if strings.EqualFold(values[0], rootLogger) {
		b.config.LogLevels[rootLogger] = level
		return nil
	}
	b.config.LogLevels[values[0]] = level
	return deviation{Ignored, "there is one logger; use `logging.level.root`"}
}

func setInfo(b *builder, values []string, v *node) error {
	b.info = b.info.merged(nested(splitKey(values[0]), v))
	return nil
}
