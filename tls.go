package gozer

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/certs"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/netlog"
	"github.com/gozer-gateway/gozer/internal/pemfile"
)

// secure is the stage of a listener that puts TLS in front of what is served there: it
// returns l itself when there is no configuration. Handshakes happen where the
// connection is served.
func secure(l net.Listener, config *tls.Config) net.Listener {
	if config == nil {
		return l
	}
	return tls.NewListener(l, config)
}

// protocols are offered to clients of the proxy by ALPN, the dearest first.
func protocols(cfg *config.Config) []string {
	first := []string{"http/1.1", "http/1.0"}
	if cfg.Server.HTTP2 {
		return append([]string{"h2"}, first...)
	}
	return first
}

// security is the TLS of the listeners, across reloads. Whether a listener speaks TLS is
// decided at the start.
type security struct{ proxy, management, registry *certs.Store }

func newSecurity(log *slog.Logger) security {
	return security{certs.New(proxy, log), certs.New(management, log), certs.New(embedded, log)}
}

// certificates are what a configuration makes of them; nil without TLS.
type certificates struct{ proxy, management, registry *certs.View }

// prepare reads the files and changes nothing. The registry goes by the configuration of the
// start.
func (s security) prepare(cfg, started *config.Config) (certificates, error) {
	var c certificates
	var problems [3]error
	if cfg.TLS() {
		c.proxy, problems[0] = s.proxy.Prepare(proxyTLS(cfg))
	}
	if cfg.Management.SSL.On() {
		c.management, problems[1] = s.management.Prepare(managementTLS(cfg))
	}
	c.registry, problems[2] = s.prepareRegistry(started)
	return c, errors.Join(certificateErrors(cfg, "server.ssl", problems[0]), certificateErrors(cfg, "management.server.ssl", problems[1]), problems[2])
}

func (s security) prepareRegistry(started *config.Config) (*certs.View, error) {
	if !registrySecure(started) {
		return nil, nil
	}
	v, err := s.registry.Prepare(registryListener(started))
	return v, certificateErrors(started, registrySSL, err)
}

func (s security) adopt(c certificates) {
	if c.proxy != nil {
		s.proxy.Adopt(c.proxy)
	}
	if c.management != nil {
		s.management.Adopt(c.management)
	}
	if c.registry != nil {
		s.registry.Adopt(c.registry)
	}
}

// run follows the files of the listeners that speak TLS.
func (s security) run(ctx context.Context, cfg *config.Config) {
	var running sync.WaitGroup
	defer running.Wait()
	if cfg.TLS() {
		running.Go(func() { s.proxy.Run(ctx, cfg.Gateway.SSL.WatchInterval) })
	}
	if cfg.Management.SSL.On() {
		running.Go(func() { s.management.Run(ctx, cfg.Gateway.SSL.WatchInterval) })
	}
	s.runRegistry(ctx, cfg)
}

func (s security) runRegistry(ctx context.Context, cfg *config.Config) {
	if registrySecure(cfg) {
		s.registry.Run(ctx, cfg.Gateway.SSL.WatchInterval)
	}
}

// stores are those of all listeners; the ones without TLS have nothing to tell.
func (s security) stores() []*certs.Store { return []*certs.Store{s.proxy, s.management, s.registry} }

func proxyTLS(cfg *config.Config) certs.Settings {
	s := listenerSettings(cfg, "server.ssl", &cfg.Server.SSL)
	s.Protocols = protocols(cfg)
	for _, name := range slices.Sorted(maps.Keys(cfg.Gateway.SSL.Certificates)) {
		further := cfg.Gateway.SSL.Certificates[name]
		s.Pairs = append(s.Pairs, certs.Pair{
			Name: "gateway.ssl.certificates." + name, Certificate: further.Certificate, Key: further.PrivateKey, Hosts: further.Hosts,
		})
	}
	return s
}

func managementTLS(cfg *config.Config) certs.Settings {
	s := listenerSettings(cfg, "management.server.ssl", &cfg.Management.SSL)
	s.Protocols = []string{"http/1.1"}
	return s
}

// registrySSL is the section about the registry's listener.
const registrySSL = "eureka.server.ssl"

func registrySecure(cfg *config.Config) bool {
	return cfg.Registry.Enabled && cfg.Registry.TLS.Certificate != ""
}

func registryListener(cfg *config.Config) certs.Settings {
	r := cfg.Registry.TLS
	s := listenerSettings(cfg, registrySSL, &config.SSL{
		Certificate: r.Certificate, PrivateKey: r.PrivateKey, ClientAuth: r.ClientAuth, TrustCertificate: r.TrustCertificate, MinVersion: tls.VersionTLS12,
	})
	s.Protocols = []string{"http/1.1"}
	return s
}

func listenerSettings(cfg *config.Config, name string, c *config.SSL) certs.Settings {
	s := certs.Settings{
		MinVersion: c.MinVersion, MaxVersion: c.MaxVersion, Ciphers: c.Ciphers,
		TicketRotation: cfg.Gateway.SSL.TicketRotation, Warning: cfg.Management.CertificateWarning,
	}
	if c.Certificate != "" {
		s.Pairs = []certs.Pair{{Name: name, Default: true, Certificate: c.Certificate, Key: c.PrivateKey}}
	}
	switch c.ClientAuth {
	case "want":
		s.ClientAuth, s.Authorities = tls.VerifyClientCertIfGiven, c.TrustCertificate
	case "need":
		s.ClientAuth, s.Authorities = tls.RequireAndVerifyClientCert, c.TrustCertificate
	}
	return s
}

// certificateErrors gives each failure the key and the place of what is to blame.
func certificateErrors(cfg *config.Config, listener string, err error) error {
	if err == nil {
		return nil
	}
	var all []error
	for _, problem := range separate(err) {
		key := listener + ".trust-certificate"
		if cfg.Place(key) == (config.Position{}) {
			key = listener + ".client-auth" // which asks for it
		}
		if pair, ok := errors.AsType[*certs.Error](problem); ok && pair.Name != "" {
			key = pair.Name + ".certificate"
			if _, blamed := errors.AsType[*pemfile.KeyError](problem); blamed {
				key += "-private-key"
			}
		}
		all = append(all, misfit(key, cfg.Place(key), problem))
	}
	return errors.Join(all...)
}

// tlsOf is what a listener does about TLS, nil for nothing.
func (g *Gateway) tlsOf(listener string) *tls.Config {
	switch {
	case listener == proxy && g.config.TLS():
		return g.security.proxy.Config()
	case listener == management && g.config.Management.SSL.On():
		return g.security.management.Config()
	case listener == embedded && registrySecure(g.config):
		return g.security.registry.Config()
	}
	return nil
}

// countFailures counts the handshakes that fail at a server, and returns it.
func (g *Gateway) countFailures(s httpServer, store *certs.Store) httpServer {
	switch server := s.(type) {
	case *http1.Server:
		server.HandshakeFailed = func(err error) { store.Failed(err.Error()) }
	case *http.Server:
		server.ErrorLog = slog.NewLogLogger(netlog.Handler(handshakeLog{g.options.logger.Handler(), store}), slog.LevelDebug)
	}
	return s
}

// handshakeLog finds failed handshakes among what net/http's server logs; it tells of them
// in no other way.
type handshakeLog struct {
	slog.Handler
	store *certs.Store
}

// Enabled says yes so that what is not logged is counted too.
func (handshakeLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle passes on what the log is to have.
func (l handshakeLog) Handle(ctx context.Context, r slog.Record) error {
	if _, failure, found := strings.Cut(r.Message, "TLS handshake error from "); found {
		l.store.Failed(failure)
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}
