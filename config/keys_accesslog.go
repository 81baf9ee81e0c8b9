package config

import (
	"strings"
	"time"
)

// AccessLog is gateway.access-log.*.
type AccessLog struct {
	Enabled         bool
	Format, Pattern string
	File            string // "" means standard output
	RequestHeaders  []string
	ResponseHeaders []string
	Masked          []string // query parameters
	MaxField        int64    // bytes
	Buffer          int64    // bytes
	FlushInterval   time.Duration
}

const (
	maskedParameters = "access_token, api_key, apikey, auth, client_secret, code, id_token, key, passwd, password, refresh_token, secret, sig, signature, token"

	mostAccessBuffer = 1 << 30
)

func accessLogKeys() []Key {
	return lift("gateway.access-log.", func(b *builder, _ []string) *AccessLog { return &b.config.Gateway.AccessLog },
		boolean("enabled", "false", "write a line for each request", func(a *AccessLog) *bool { return &a.Enabled }),
		choice("format", "json", "what a line looks like; `pattern` is that of the next key", []string{"json", "combined", "common", "pattern"}, func(a *AccessLog) *string { return &a.Format }),
		row[AccessLog]{name: "pattern", kind: "text", verbatim: true, doc: "line in Tomcat's notation, such as `%h %l %u %t \"%r\" %s %b %D %{service}r`", set: parsed(textOf, func(a *AccessLog) *string { return &a.Pattern })},
		text("file", "", "file to append to; empty means standard output. It is opened anew at SIGHUP", func(a *AccessLog) *string { return &a.File }),
		texts("request-headers", "", "fields of the request that JSON lines have too; secret ones show `***`", func(a *AccessLog) *[]string { return &a.RequestHeaders }),
		texts("response-headers", "", "fields of the response that JSON lines have too", func(a *AccessLog) *[]string { return &a.ResponseHeaders }),
		texts("masked-parameters", maskedParameters, "query parameters whose values show as `***`, in any case", func(a *AccessLog) *[]string { return &a.Masked }),
		row[AccessLog]{name: "max-field-size", kind: "size", def: "2KB", doc: "longest text out of a request in a line, 64 bytes at least; the rest is cut", set: parsed(fieldSizeOf, func(a *AccessLog) *int64 { return &a.MaxField })},
		size("buffer-size", "1MB", "lines that wait to be written, 64 KB at least; what has no room is dropped and counted", mostAccessBuffer, func(a *AccessLog) *int64 { return &a.Buffer }),
		duration("flush-interval", "1s", "how long a line waits at most", time.Millisecond, time.Millisecond, func(a *AccessLog) *time.Duration { return &a.FlushInterval }),
	)
}

func fieldSizeOf(v *node) (int64, error) {
	const least = 64
	n, err := sizeOf(v)
	switch {
	case err != nil:
	case n < least:
		err = fault(v, "is too small (at least %d bytes)", least)
	case n > mostHead:
		err = fault(v, "is too large (at most %s)", sizeName(mostHead))
	}
	return n, err
}

// servletAccessLogKeys name the place of what Spring Boot has for its servers.
func servletAccessLogKeys() []row[Config] {
	var rows []row[Config]
	for _, server := range []string{"tomcat", "undertow", "jetty", "netty"} {
		rows = append(rows, dead[Config](Ignored, strings.Join([]string{"server", server, "accesslog.**"}, "."), "use `gateway.access-log`"))
	}
	return rows
}
