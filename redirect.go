package gozer

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gozer-gateway/gozer/internal/certs"
	"github.com/gozer-gateway/gozer/internal/headers"
)

// redirect is the name of the listener that sends clients to the proxy's TLS port.
const redirect = "redirect"

func (g *Gateway) openRedirect(ctx context.Context) (*server, error) {
	return g.open(ctx, redirect, g.config.Server.Address, g.config.Gateway.SSL.RedirectPort, func(base context.Context) httpServer {
		return g.engineServer(base, http.HandlerFunc(g.redirect))
	})
}

// redirect answers every request with the same URL under https. Where that leads is not
// for strangers to say: hosts for which there is no certificate are refused.
func (g *Gateway) redirect(w http.ResponseWriter, r *http.Request) {
	ssl := g.snapshot.Load().config.Gateway.SSL
	authority, ok := headers.ParseAuthority(r.Host)
	target := rawPath(r)
	if !ok || !strings.HasPrefix(target, "/") || strings.ContainsFunc(r.RequestURI, notInTarget) {
		refuseRedirect(w, http.StatusBadRequest, "no redirect for this request")
		return
	}
	if !g.security.proxy.Has(authority.Name) && !certs.NewNames(ssl.RedirectHosts...).Has(authority.Name) {
		refuseRedirect(w, http.StatusMisdirectedRequest, "no redirect to this host")
		return
	}
	if _, query, found := strings.Cut(r.RequestURI, "?"); found {
		target += "?" + query
	}
	w.Header().Set("Location", "https://"+withPort(authority.Name, g.redirectPort(ssl.RedirectTo))+target)
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(ssl.RedirectStatus)
}

// notInTarget reports bytes that cannot stand in a Location as they are.
func notInTarget(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }

func refuseRedirect(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(why + "\n"))
}

// redirectPort is the port of the proxy as clients see it.
func (g *Gateway) redirectPort(configured int) int {
	if configured > 0 {
		return configured
	}
	return int(g.proxyPort.Load())
}

func withPort(host string, port int) string {
	const https = 443
	if port == https {
		return host
	}
	return host + ":" + strconv.Itoa(port)
}
