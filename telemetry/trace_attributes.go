package telemetry

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/grpc"
	"github.com/gozer-gateway/gozer/lb"
)

// Attributes without a place in the semantic conventions.
const (
	routeKey     = attribute.Key("gozer.route")
	serviceKey   = attribute.Key("gozer.service")
	serverKey    = attribute.Key("gozer.server")
	zoneKey      = attribute.Key("gozer.zone")
	ruleKey      = attribute.Key("gozer.rule")
	outcomeKey   = attribute.Key("gozer.outcome")
	hedgeKey     = attribute.Key("gozer.hedge")
	requestIDKey = attribute.Key("gozer.request.id")
	attemptsKey  = attribute.Key("gozer.attempts")
)

// maxText bounds the texts that clients choose.
const maxText = 256

// text is what a client has sent, cut and with nothing that is no text.
func text(s string) string { return strings.ToValidUTF8(clipped(s, maxText), string(utf8.RuneError)) }

// methodOf is a method of the conventions' list, or "_OTHER".
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace, "QUERY":
		return method
	}
	return "_OTHER"
}

// spanName never holds what a client makes up.
func spanName(method, pattern string) string {
	name := methodOf(method)
	if name == "_OTHER" {
		name = "HTTP"
	}
	if pattern == "" {
		return name
	}
	return name + " " + pattern
}

func appendMethod(a []attribute.KeyValue, method string) []attribute.KeyValue {
	known := methodOf(method)
	a = append(a, semconv.HTTPRequestMethodKey.String(known))
	if known != method {
		a = append(a, semconv.HTTPRequestMethodOriginal(text(method)))
	}
	return a
}

// requestAttributes are known before the filters run. The query is left out: it holds
// whatever applications put there, tokens too.
func requestAttributes(c *filters.Context) []attribute.KeyValue {
	r := c.Request
	a := appendMethod(make([]attribute.KeyValue, 0, 12), r.Method)
	path, _, _ := strings.Cut(c.Path.Raw, "?")
	origin := c.Origin()
	host, port := hostPort(origin.Host)
	a = append(a, semconv.URLPath(text(path)), semconv.URLScheme(origin.Scheme), semconv.NetworkProtocolVersion(versionOf(r)))
	if host != "" {
		a = append(a, semconv.ServerAddress(text(host)))
	}
	if port > 0 {
		a = append(a, semconv.ServerPort(port))
	}
	if agent := r.Header.Get("User-Agent"); agent != "" {
		a = append(a, semconv.UserAgentOriginal(text(agent)))
	}
	if origin.Addr.IsValid() {
		a = append(a, semconv.ClientAddress(origin.Addr.String()))
	}
	if c.RequestID != "" {
		a = append(a, requestIDKey.String(text(c.RequestID)))
	}
	return a
}

func versionOf(r *http.Request) string {
	if r.ProtoMajor >= 2 {
		return strconv.Itoa(r.ProtoMajor)
	}
	return "1." + strconv.Itoa(min(max(r.ProtoMinor, 0), 1))
}

func hostPort(authority string) (host string, port int) {
	host, digits, err := net.SplitHostPort(authority)
	if err != nil {
		return strings.Trim(authority, "[]"), 0
	}
	port, _ = strconv.Atoi(digits)
	return host, port
}

// outcomeAttributes are known when the response has been sent.
func outcomeAttributes(c *filters.Context, failed bool) []attribute.KeyValue {
	a := make([]attribute.KeyValue, 0, 8)
	if c.Route != nil {
		a = append(a, semconv.HTTPRoute(c.Route.FullPath), routeKey.String(c.Route.ID))
	}
	if c.ServiceID != "" {
		a = append(a, serviceKey.String(text(c.ServiceID)))
	}
	account := c.Account()
	if n := len(account.Attempts) + account.Unkept; n > 0 {
		a = append(a, attemptsKey.Int(n))
	}
	status := c.Status()
	if status > 0 {
		a = append(a, semconv.HTTPResponseStatusCode(status))
	}
	code, isCall := c.CallStatus()
	if isCall {
		a = append(a, callAttributes(grpc.Code(code))...)
	}
	kind := errorType(c)
	switch {
	case kind != "" || !failed:
	case status >= 500:
		kind = strconv.Itoa(status)
	case isCall:
		kind = nameOf(grpc.Code(code))
	default:
		kind = "_OTHER"
	}
	if kind != "" {
		a = append(a, semconv.ErrorTypeKey.String(kind))
	}
	return a
}

// attemptAttributes are known before an attempt is sent.
func attemptAttributes(s *lb.AttemptStart) []attribute.KeyValue {
	a := appendMethod(make([]attribute.KeyValue, 0, 12), s.Request.Method)
	u := s.Request.URL
	a = append(a, semconv.URLFull(withoutQuery(u)), semconv.ServerAddress(u.Hostname()), semconv.ServerPort(portOf(u)))
	if s.Resend > 0 {
		a = append(a, semconv.HTTPRequestResendCount(s.Resend))
	}
	if s.Hedge {
		a = append(a, hedgeKey.Bool(true))
	}
	if s.Service == "" {
		return a
	}
	a = append(a, semconv.ServicePeerName(s.Service), serviceKey.String(s.Service), serverKey.String(s.Server))
	if s.Rule != "" {
		a = append(a, ruleKey.String(s.Rule))
	}
	if s.Zone != "" {
		a = append(a, zoneKey.String(s.Zone))
	}
	return a
}

// withoutQuery is the URL as the semantic conventions want it, but for what may be secret.
func withoutQuery(u *url.URL) string {
	path := u.Opaque
	if path == "" {
		path = u.EscapedPath()
	}
	return text(u.Scheme + "://" + u.Host + path)
}

func portOf(u *url.URL) int {
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return port
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}
