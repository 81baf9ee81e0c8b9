package pre

import (
	"net/http"
	"strings"

	"github.com/gozer-gateway/gozer/filters"
	said "github.com/gozer-gateway/gozer/internal/forwarded"
	"github.com/gozer-gateway/gozer/internal/headers"
	"github.com/gozer-gateway/gozer/routing"
)

// addForwarded writes X-Forwarded-* by the table of zuul.md 4.3. Received
// values that are still there come from a trusted peer and are appended to.
func addForwarded(c *filters.Context, host headers.Authority, prefix string) {
	f := fields{c}
	scheme := schemeOf(c.Request)
	protos, _ := f.received("X-Forwarded-Proto") // before it is written
	f.write("X-Forwarded-Port", func(in []string) string { return ports(first(in), first(protos), portOf(host, scheme)) })
	f.write("X-Forwarded-Proto", func(in []string) string { return join(first(in), ",", scheme) })
	f.write("X-Forwarded-Host", func(in []string) string {
		return join(first(in), ",", withoutDefaultPort(c.Request.Host, host, scheme))
	})
	f.write("X-Forwarded-Prefix", func(in []string) string { return joinPrefix(first(in), prefix) })
	f.write("X-Forwarded-For", func(in []string) string { return forwardedFor(in, addressOf(c.Request.RemoteAddr)) })
}

// fields are those of one request.
type fields struct{ c *filters.Context }

// write sets a field to what value makes of the received lines, unless the
// field is ignored, a filter has set it, or there is nothing to say.
func (f fields) write(name string, value func(received []string) string) {
	received, free := f.received(name)
	if !free || f.c.IgnoresHeader(name) {
		return
	}
	if v := value(received); v != "" {
		f.c.Out.SetField(name, v)
	}
}

// received returns the received lines of a field; false if a filter has set it.
func (f fields) received(name string) ([]string, bool) {
	now := f.c.Out.Header[name]
	if chain := f.c.Origin().Chain; now == nil && chain != "" {
		return f.converted(name, chain), true
	}
	if now == nil || headers.Inherited(now, f.c.Request.Header[name]) {
		return now, true
	}
	return nil, false
}

// converted returns what Forwarded has said in the place of another field.
func (f fields) converted(name, chain string) []string {
	switch o := f.c.Origin(); name {
	case said.For:
		return []string{chain}
	case said.Proto:
		return []string{o.Scheme}
	case said.Host:
		return []string{o.Host}
	}
	return nil
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

func portOf(host headers.Authority, scheme string) string {
	if host.Port == "" {
		return defaultPort(scheme)
	}
	return host.Port
}

// withoutDefaultPort returns the Host field without a port that says nothing.
func withoutDefaultPort(raw string, host headers.Authority, scheme string) string {
	if host.Port == "" || host.Port == defaultPort(scheme) {
		return host.Name
	}
	return raw
}

// join puts the separator between a and b if there are both.
func join(a, separator, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
}

// ports makes up for a proxy that sends X-Forwarded-Proto without -Port.
func ports(incoming, protos, port string) string {
	if incoming == "" && protos != "" {
		for proto := range strings.SplitSeq(protos, ",") {
			incoming = join(incoming, ",", defaultPort(strings.TrimSpace(proto)))
		}
	}
	return join(incoming, ",", port)
}

func joinPrefix(incoming, prefix string) string {
	if incoming == "" {
		return prefix
	}
	return routing.JoinURLPath(incoming, prefix)
}

// trimList takes away empty members at the ends.
func trimList(line string) string { return strings.Trim(line, ", \t") }

// forwardedFor makes one line of the received ones and puts the peer at its
// end, where it may stand already.
func forwardedFor(lines []string, peer string) string {
	chain := ""
	for _, line := range lines {
		chain = join(chain, ", ", trimList(line))
	}
	last := chain[strings.LastIndexByte(chain, ',')+1:]
	if strings.TrimSpace(last) == peer {
		return chain
	}
	return join(chain, ", ", peer)
}
