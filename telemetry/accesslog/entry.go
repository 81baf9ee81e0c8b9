package accesslog

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/filters"
)

// entry is a request as its line sees it.
type entry struct {
	*filters.Context
	log     *Log
	account filters.Account
	origin  filters.Origin
	refused string // why the server refused it by itself; "" if it did not

	times times  // these two are kept for the next request
	line  []byte // only their memory
}

// field is a fact about a request under its name in JSON, which is also that of
// %{name}r in a pattern. Exactly one of the functions is set; an empty text, a
// negative number, an invalid address and false stand for a fact that there is not.
type field struct {
	name string
	text func(*entry) string
	num  func(*entry) int64
	took func(*entry) time.Duration
	addr func(*entry) netip.Addr
	flag func(*entry) bool
}

const absent = -1

// allFields are in the order of the JSON line, behind the time.
func allFields() []field {
	return []field{
		{name: "request_id", text: func(e *entry) string { return e.RequestID }},
		{name: "trace_id", text: func(e *entry) string { trace, _ := e.trace(); return trace }},
		{name: "span_id", text: func(e *entry) string { _, span := e.trace(); return span }},
		{name: "client", addr: func(e *entry) netip.Addr { return e.origin.Addr }},
		{name: "peer", text: (*entry).peer},
		{name: "method", text: func(e *entry) string { return e.Request.Method }},
		{name: "scheme", text: func(e *entry) string { return e.origin.Scheme }},
		{name: "host", text: func(e *entry) string { return e.Request.Host }},
		{name: "path", text: (*entry).path},
		{name: "query", text: (*entry).query},
		{name: "protocol", text: func(e *entry) string { return e.Request.Proto }},
		{name: "status", num: (*entry).status},
		{name: "grpc_status", num: (*entry).callStatus},
		{name: "bytes_in", num: func(e *entry) int64 { return e.account.BytesIn }},
		{name: "bytes_out", num: func(e *entry) int64 { return e.account.BytesOut }},
		{name: "took_ms", took: func(e *entry) time.Duration { return e.account.Took }},
		{name: "pre_ms", took: func(e *entry) time.Duration { return e.account.Pre }},
		{name: "route_ms", took: func(e *entry) time.Duration { return e.account.Route }},
		{name: "post_ms", took: func(e *entry) time.Duration { return e.account.Post }},
		{name: "error_ms", took: func(e *entry) time.Duration { return positive(e.account.Error) }},
		{name: "tunnel_ms", took: func(e *entry) time.Duration { return positive(e.account.Tunnel) }},
		{name: "route", text: (*entry).route},
		{name: "service", text: func(e *entry) string { return e.ServiceID }},
		{name: "server", text: func(e *entry) string { return e.last().Server }},
		{name: "attempts", num: (*entry).attempts},
		{name: "upstream_status", num: func(e *entry) int64 { return int64(positive(e.last().Status)) }},
		{name: "upstream_ms", took: func(e *entry) time.Duration { return positive(e.last().Took) }},
		{name: "tls", text: (*entry).tlsVersion},
		{name: "cipher", text: (*entry).cipher},
		{name: "cause", text: (*entry).cause},
		{name: "cut", flag: func(e *entry) bool { return e.Aborted() }},
		{name: "user_agent", text: (*entry).userAgent},
		{name: "referer", text: (*entry).referer},
	}
}

func fieldNamed(name string) (field, bool) {
	for _, f := range allFields() {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

func fieldNames() []string {
	var names []string
	for _, f := range allFields() {
		names = append(names, f.name)
	}
	return names
}

// positive makes zero absent.
func positive[T ~int | ~int64](n T) T {
	if n <= 0 {
		return absent
	}
	return n
}

// peer is the other end of the connection where that is not the client.
func (e *entry) peer() string {
	if !e.origin.Proxied {
		return ""
	}
	return e.Request.RemoteAddr
}

// path is the request target as it was received, up to the query.
func (e *entry) path() string {
	target, _, _ := strings.Cut(e.Request.RequestURI, "?")
	return cmp.Or(target, e.Path.Raw)
}

func (e *entry) query() string { return e.log.masked.query(e.Request.URL.RawQuery) }

func (e *entry) route() string {
	if e.Route == nil {
		return ""
	}
	return e.Route.ID
}

// last is the attempt whose outcome became that of the request.
func (e *entry) last() filters.Attempt {
	if n := len(e.account.Attempts); n > 0 {
		return e.account.Attempts[n-1]
	}
	return filters.Attempt{}
}

func (e *entry) attempts() int64 {
	return positive(int64(len(e.account.Attempts) + e.account.Unkept))
}

func (e *entry) tlsVersion() string {
	if e.Request.TLS == nil {
		return ""
	}
	return tls.VersionName(e.Request.TLS.Version)
}

func (e *entry) cipher() string {
	if e.Request.TLS == nil {
		return ""
	}
	return e.log.ciphers[e.Request.TLS.CipherSuite]
}

func (e *entry) callStatus() int64 {
	if code, told := e.CallStatus(); told {
		return int64(code)
	}
	return absent
}

// clientGone is nginx's status for a client that did not wait for an answer.
const clientGone = 499

func (e *entry) status() int64 {
	if status := e.Status(); status != 0 {
		return int64(status)
	}
	if e.Cut() {
		return http.StatusServiceUnavailable
	}
	return clientGone
}

func (e *entry) cause() string {
	if e.refused != "" {
		return e.refused
	}
	if e.Err == nil || e.log.Cause == nil {
		return ""
	}
	return e.log.Cause(e.Context)
}

// header is a field of the request, or of the response as it was sent.
func (e *entry) header(h shownHeader, ofRequest bool) string {
	if ofRequest {
		return e.log.masked.header(h, e.Request.Header[h.name])
	}
	return e.log.masked.header(h, e.Sent(h.name))
}

// cipherNames spares the lists that tls.CipherSuiteName makes each time.
func cipherNames() map[uint16]string {
	names := map[uint16]string{}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		names[suite.ID] = suite.Name
	}
	return names
}

func (e *entry) trace() (trace, span string) {
	if e.log.Trace == nil {
		return "", ""
	}
	return e.log.Trace(e.Context)
}

func (e *entry) userAgent() string { return first(e.Request.Header["User-Agent"]) }

func (e *entry) referer() string {
	if referer := first(e.Request.Header["Referer"]); referer != "" {
		return e.log.masked.url(referer)
	}
	return ""
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
