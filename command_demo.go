package gozer

import (
	"net"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/internal/demo"
	"github.com/gozer-gateway/gozer/routing"
)

// sights are what the demo can show of the running gateway.
func (g *Gateway) sights(proxy, management net.Addr) demo.Sights {
	s := g.snapshot.Load()
	m := s.config.Management
	sights := demo.Sights{
		Proxy: reachable(proxy),
		Routed: func(path, location string) bool {
			return slices.ContainsFunc(s.table.Routes(), func(r *routing.Route) bool { return r.FullPath == path && r.Location == location })
		},
	}
	if management != nil {
		sights.Actuator = reachable(management) + strings.TrimSuffix("/"+strings.Trim(m.BasePath, "/"), "/")
		sights.Endpoints = slices.DeleteFunc(admin.IDs(), func(id string) bool { return !admin.Exposed(m.Include, m.Exclude, id) })
	}
	return sights
}

// reachable gives an address to connect to: a listener on all addresses is
// reached on the loopback.
func reachable(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
