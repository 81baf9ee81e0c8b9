package gozer

import (
	"slices"

	"github.com/gozer-gateway/gozer/filters"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
	"github.com/gozer-gateway/gozer/filters/post"
	"github.com/gozer-gateway/gozer/filters/pre"
	"github.com/gozer-gateway/gozer/filters/route"
)

// specs lists the filters of a snapshot: the built-in ones with Zuul's names
// and orders, then those given as options, which replace built-in filters of
// the same name and phase.
func (g *Gateway) specs(s *snapshot) []filters.Spec {
	own := g.options.filters
	all := slices.DeleteFunc(g.builtins(s), func(b filters.Spec) bool {
		return slices.ContainsFunc(own, func(o filters.Spec) bool { return o.Name == b.Name && o.Phase == b.Phase })
	})
	return append(all, own...)
}

func (g *Gateway) builtins(s *snapshot) []filters.Spec {
	cfg, z := s.config, s.config.Zuul
	return []filters.Spec{
		pre.Debug(pre.DebugSettings{Parameter: z.Debug.Parameter, Always: z.Debug.Request}),
		pre.PreDecoration(pre.Settings{
			Table:            s.table,
			AddProxyHeaders:  z.AddProxyHeaders,
			Forwarded:        pre.Forwarded{Mode: cfg.Server.Forward.Forwarded, For: cfg.Server.Forward.ForwardedFor, By: cfg.Server.Forward.ForwardedBy},
			AddHostHeader:    z.AddHostHeader,
			SensitiveHeaders: z.SensitiveHeaders,
			IgnoredHeaders:   z.IgnoredHeaders,
		}),
		route.RibbonRouting(s.services),
		route.SimpleHostRouting(route.SimpleHostSettings{
			Transport:          g.transport(s, urlRoutes, urlPool(cfg), cfg.TLSForRoute(everyUpstream), nil),
			ByRoute:            g.routeTransports(s),
			ForceOriginalQuery: z.ForceOriginalQueryStringEncoding,
			Tracer:             s.attemptTracer(),
		}),
		route.SendForward(g.router()),
		post.LocationRewrite(post.LocationRewriteSettings{Prefix: z.Prefix, StripPrefix: z.StripPrefix, Owns: s.services.own}),
		post.SendResponse(post.SendResponseSettings{
			BufferSize:  int(z.InitialStreamBufferSize),
			DebugHeader: z.IncludeDebugHeader,
			TunnelIdle:  cfg.Gateway.Limits.TunnelIdleTimeout,
			Tunnels:     &g.state.meter.Tunnels,
		}),
		errorfilter.SendError(errorfilter.Settings{
			Mapping:        errorfilter.Mapping{Compat: cfg.Gateway.Compat.ErrorStatus},
			IncludeMessage: cfg.Server.Error.IncludeMessage,
			Meter:          g.state.meter,
		}),
	}
}
