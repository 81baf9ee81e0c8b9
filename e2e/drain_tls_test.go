package e2e_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// clientOf speaks TLS with the gateway, HTTP/2 if it shall.
func (a authorities) clientOf(tb testing.TB, h2 bool) *http.Client {
	tb.Helper()
	c := newClient(tb)
	rt := c.Transport.(*http.Transport)
	rt.TLSClientConfig = &tls.Config{RootCAs: a.server.Pool(), MinVersion: tls.VersionTLS12}
	rt.ForceAttemptHTTP2 = h2
	return c
}

// C216: over TLS the shutdown has the same steps, with HTTP/1.1 and with HTTP/2, and the
// listener that redirects takes part.
func TestC216DrainOverTLS(t *testing.T) {
	t.Parallel()
	for name, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, slow := newAuthorities(t), startSlow(t)
			cert, key := a.server.Issue("127.0.0.1").Write()
			g := startGateway(t, slow.yaml(0, patience)+
				fmt.Sprintf("server: {http2.enabled: true, ssl: {certificate: %s, certificate-private-key: %s}}\ngateway.ssl.redirect-port: 0\n", cert, key))
			plain := g.Log.address(t, "redirect", g.ended)
			client := a.clientOf(t, h2)
			var inFlight sync.WaitGroup
			for range 50 {
				inFlight.Go(func() {
					res, err := client.Get("https://" + g.Proxy + "/slow/x") //nolint:noctx // the client has a timeout
					if err != nil {
						t.Error(err)
						return
					}
					defer res.Body.Close()
					body, err := io.ReadAll(res.Body)
					if err != nil || string(body) != "finished" || (res.ProtoMajor == 2) != h2 {
						t.Errorf("%s %s %q, %v", res.Proto, res.Status, body, err)
					}
				})
				receive(t, "the request arrives", slow.arrived)
			}
			g.Signal(syscall.SIGTERM)
			for _, address := range []string{g.Proxy, plain} {
				eventually(t, "new connections are refused", func() bool { return isRefused(t, address) })
			}
			close(slow.finish)
			inFlight.Wait()
			wantExit(t, g.ExitCode(), 0)
		})
	}
}

// The sockets of TLS go over like others: no request fails, on kept connections of HTTP/1.1,
// on new ones, and of HTTP/2.
func TestHandOverOverTLS(t *testing.T) {
	t.Parallel()
	a, b := newAuthorities(t), backendtest.Start(t, identify())
	g, _ := start{yaml: secureYAML(a.server.Issue("127.0.0.1"), b, "server.http2.enabled: true", "gateway.ssl.redirect-port: 0")}.installed(t)
	plain := g.Log.address(t, "redirect", g.ended)
	once := a.clientOf(t, false)
	once.Transport.(*http.Transport).DisableKeepAlives = true
	url := "https://" + g.Proxy + "/api/x"
	loads := []*load{
		startLoadBy(t, a.clientOf(t, false), url, http.MethodGet, http.MethodPost),
		startLoadBy(t, a.clientOf(t, true), url, http.MethodGet, http.MethodPost),
		startLoadBy(t, once, url, http.MethodPost),
	}
	for _, l := range loads {
		l.Progress(20)
	}
	g.handOver(t)
	wantExit(t, g.ExitCode(), 0)
	for _, l := range loads {
		l.Progress(20)
		l.Stop()
	}
	if isRefused(t, plain) {
		t.Error("nobody redirects any more")
	}
}
