package pre

import (
	"net/http"
	"slices"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/headers"
	"github.com/gozer-gateway/gozer/routing"
)

// Settings are what PreDecoration knows about the whole gateway. The zero value
// but for Table adds no headers and drops none.
type Settings struct {
	// Table has the routes. It must not be nil.
	Table *routing.Table

	// AddProxyHeaders (zuul.add-proxy-headers, there true by default) tells
	// upstreams about the client in X-Forwarded-*.
	AddProxyHeaders bool

	// Forwarded is the field of RFC 7239 that they get besides.
	Forwarded Forwarded

	// AddHostHeader (zuul.add-host-header) sends the client's Host upstream.
	AddHostHeader bool

	// SensitiveHeaders (zuul.sensitive-headers) are dropped in both directions
	// on routes that have no such list of their own.
	SensitiveHeaders []string

	// IgnoredHeaders (zuul.ignored-headers) are dropped in both directions on
	// every route.
	IgnoredHeaders []string
}

// PreDecoration finds the route of a request and writes into the context what
// the route phase needs (zuul.md 2.4). It stands aside when an earlier filter
// has decided where the request goes, or has answered it: then nothing of what
// it does happens, the dropping of headers included.
func PreDecoration(s Settings) filters.Spec { //nolint:revive // the filter is called so
	return filters.Spec{
		Name: "PreDecorationFilter", Phase: filters.Pre, Order: 5,
		New: func(func(any) error) (filters.Filter, error) { return newPreDecoration(s), nil },
	}
}

type preDecoration struct {
	table           *routing.Table
	addProxyHeaders bool
	forwarded       Forwarded
	addHostHeader   bool

	ignored    headers.Set                    // on routes without a list of their own
	ignoredFor map[*routing.Route]headers.Set // on the others
}

var _ filters.Filter = (*preDecoration)(nil)

func newPreDecoration(s Settings) *preDecoration {
	p := &preDecoration{
		table:           s.Table,
		addProxyHeaders: s.AddProxyHeaders,
		forwarded:       s.Forwarded,
		addHostHeader:   s.AddHostHeader,
		ignored:         headers.NewSet(slices.Concat(s.IgnoredHeaders, s.SensitiveHeaders)...),
		ignoredFor:      map[*routing.Route]headers.Set{},
	}
	for _, r := range s.Table.Routes() {
		if r.CustomSensitiveHeaders {
			p.ignoredFor[r] = headers.NewSet(slices.Concat(s.IgnoredHeaders, r.SensitiveHeaders)...)
		}
	}
	return p
}

func (*preDecoration) ShouldFilter(c *filters.Context) bool {
	return c.ForwardTo == "" && c.ServiceID == "" && c.Out.URL == nil && c.Response == nil
}

func (p *preDecoration) Run(c *filters.Context) error {
	host, ok := headers.ParseAuthority(c.Request.Host)
	if !ok && c.Request.Host != "" {
		return filters.Refuse(http.StatusBadRequest, "Invalid Host field")
	}
	match, found := p.table.Match(c.Path)
	switch {
	case !found:
		c.ForwardTo = c.Path.LocalForward()
	case match.Err != nil:
		return &filters.StatusError{Status: http.StatusBadRequest, Cause: "Unsafe path", Err: match.Err}
	default:
		p.decorate(c, match, host)
	}
	return nil
}

func (p *preDecoration) decorate(c *filters.Context, m routing.Match, host headers.Authority) {
	c.Route, c.Out.Path, c.Retryable = m.Route, m.Path, m.Route.Retryable
	c.IgnoreHeaderSet(p.ignoredOn(m.Route))
	switch m.Route.Kind {
	case routing.KindForward:
		c.ForwardTo = m.ForwardPath()
		return
	case routing.KindURL:
		c.Out.URL = m.Route.URL
	case routing.KindService:
		c.ServiceID = m.Route.ServiceID
	}
	if p.addProxyHeaders {
		p.forwarded.write(c)
		addForwarded(c, host, m.Route.ForwardedPrefix)
	}
	if p.addHostHeader && c.Out.Host == "" {
		c.Out.Host = withoutDefaultPort(c.Request.Host, host, schemeOf(c.Request))
	}
}

func (p *preDecoration) ignoredOn(r *routing.Route) headers.Set {
	if r.CustomSensitiveHeaders {
		return p.ignoredFor[r]
	}
	return p.ignored
}
