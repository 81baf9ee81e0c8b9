package gozer

import (
	"context"
	"crypto/tls"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/tlsout"
	"github.com/gozer-gateway/gozer/routing"
	"github.com/gozer-gateway/gozer/telemetry"
)

// upstreamTLS is the TLS of a snapshot towards its upstreams.
type upstreamTLS struct {
	materials map[tlsout.Files]*tlsout.Material
	clients   map[string]*keptTLS // by the key of the pool
}

// keptTLS is a client with what it was made of: it is kept, and with it the connections of
// its pool, as long as that stays the same.
type keptTLS struct {
	options tlsout.Options
	client  *tlsout.Client
}

// tlsState is what outlives a configuration of it.
type tlsState struct {
	mu         sync.Mutex
	inForce    upstreamTLS
	tallies    map[string]*tlsout.Tally // by the key of the pool
	complaints map[tlsout.Files]string  // about files whose old content stays
	log        failureLog
}

func newTLSState() *tlsState {
	return &tlsState{tallies: map[string]*tlsout.Tally{}, complaints: map[tlsout.Files]string{}}
}

// retain puts the TLS of a snapshot in force and forgets what it does not use.
func (t *tlsState) retain(next upstreamTLS) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inForce = next
	maps.DeleteFunc(t.tallies, func(key string, _ *tlsout.Tally) bool { return next.clients[key] == nil })
	maps.DeleteFunc(t.complaints, func(f tlsout.Files, _ string) bool { return next.materials[f] == nil })
}

// tally returns the counters of a pool.
func (t *tlsState) tally(key string) *tlsout.Tally {
	if t.tallies[key] == nil {
		t.tallies[key] = &tlsout.Tally{}
	}
	return t.tallies[key]
}

// material reads the files of an entry. Broken ones leave what was read from them before, if
// anything was.
func (g *Gateway) material(entry string, f tlsout.Files) (*tlsout.Material, error) {
	t := g.state.tls
	m, err := f.Load()
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.inForce.materials[f]
	switch {
	case err == nil && m.Equal(old):
		m = old
	case err != nil && old != nil:
		g.complain(entry, f, err)
		return old, nil
	}
	delete(t.complaints, f)
	return m, err
}

// complain logs once what is wrong with files; the state's lock is held.
func (g *Gateway) complain(entry string, f tlsout.Files, err error) {
	if text := err.Error(); g.state.tls.complaints[f] != text {
		g.state.tls.complaints[f] = text
		g.options.logger.Error("certificates of upstreams not renewed, the old ones stay", "for", entry, "error", err)
	}
}

// secure reads the files of gateway.tls, also those of entries that nobody uses yet.
func (g *Gateway) secure(s *snapshot) error {
	s.tls = upstreamTLS{map[tlsout.Files]*tlsout.Material{}, map[string]*keptTLS{}}
	t := s.config.Gateway.TLS
	problems := g.readFiles(s, everyUpstream, t.All)
	for _, name := range slices.Sorted(maps.Keys(t.Own)) {
		for _, problem := range g.readFiles(s, name, *t.Own[name]) {
			if !slices.Contains(problems, problem) { // what is inherited is said once
				problems = append(problems, problem)
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &config.SettingsError{Findings: problems}
}

const everyUpstream = "*"

// upstreamEntry is how messages call the entry of a name.
func upstreamEntry(name string) string { return "gateway.tls." + name }

func (g *Gateway) readFiles(s *snapshot, name string, u config.UpstreamTLS) []config.Finding {
	files := filesOf(u)
	if files == (tlsout.Files{}) || s.tls.materials[files] != nil {
		return nil
	}
	m, err := g.material(upstreamEntry(name), files)
	if err == nil {
		s.tls.materials[files] = m
	}
	return fileFindings(s.config, err, upstreamEntry(name), upstreamEntry(everyUpstream))
}

func filesOf(u config.UpstreamTLS) tlsout.Files {
	return tlsout.Files{TrustCertificate: u.TrustCertificate, Certificate: u.Certificate, PrivateKey: u.PrivateKey}
}

func tlsSettings(u config.UpstreamTLS) tlsout.Settings {
	s := tlsout.Settings{Files: filesOf(u), ServerName: u.ServerName, SkipVerify: !u.Verified(), MinVersion: tls.VersionTLS12}
	if u.MinVersion == config.TLS13 {
		s.MinVersion = tls.VersionTLS13
	}
	return s
}

// tlsClient makes the sessions of the pool of that key: the client in force, unless its
// settings or files have changed.
func (g *Gateway) tlsClient(s *snapshot, key string, u config.UpstreamTLS, names tlsout.Names) *tlsout.Client {
	t := g.state.tls
	t.mu.Lock()
	defer t.mu.Unlock()
	settings := tlsSettings(u)
	o := tlsout.Options{Settings: settings, Material: s.tls.materials[settings.Files], Names: names, Tally: t.tally(key)}
	kept := t.inForce.clients[key]
	if kept == nil || kept.options.Settings != o.Settings || kept.options.Material != o.Material || kept.options.Names != o.Names || kept.options.Tally != o.Tally {
		kept = &keptTLS{options: o}
		o.Failed = func(e *tlsout.Error) { t.log.failed(g.options.logger, poolName(key), e) }
		kept.client = tlsout.New(o)
	}
	s.tls.clients[key] = kept
	return kept.client
}

// renewTLS looks at the files of the certificates in force. If any has changed, a new
// snapshot with new pools takes over: what is on its way ends on the old connections.
func (g *Gateway) renewTLS() {
	g.reload.Lock()
	defer g.reload.Unlock()
	before := g.snapshot.Load()
	var changed []string
	for _, entry := range before.upstreamFiles() {
		if m, err := g.material(entry.name, entry.files); err == nil && m != entry.material {
			changed = append(changed, entry.name)
		}
	}
	if len(changed) == 0 {
		return
	}
	if err := g.replace(before.config); err != nil {
		g.options.logger.Error("certificates of upstreams not renewed, the old ones stay", "error", err)
		return
	}
	g.options.logger.Info("certificates of upstreams renewed", "for", strings.Join(changed, ", "))
}

// followTLS renews certificates when their files change, until ctx ends.
func (g *Gateway) followTLS(ctx context.Context) {
	watch := tlsout.Watch{Files: g.tlsFiles, Changed: func() {
		g.renewTLS()
		g.registries.renew(g.options.logger)
	}}
	watch.Run(ctx)
}

// tlsFiles are those of the upstreams of this moment, and those for registries.
func (g *Gateway) tlsFiles() []string {
	all := slices.Clone(g.registries.paths())
	for _, entry := range g.snapshot.Load().upstreamFiles() {
		all = append(all, entry.files.Paths()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// routeTransports are those of the URL routes that are spoken to otherwise than the rest:
// each has connections of its own.
func (g *Gateway) routeTransports(s *snapshot) map[string]http.RoundTripper {
	own := map[string]http.RoundTripper{}
	general, protocol := tlsSettings(s.config.TLSForRoute(everyUpstream)), s.config.UpstreamFor(everyUpstream)
	for _, r := range s.table.Routes() {
		if r.Kind != routing.KindURL || own[r.ID] != nil {
			continue
		}
		security := s.config.TLSForRoute(r.ID)
		if tlsSettings(security) != general || s.config.UpstreamFor(r.ID) != protocol {
			own[r.ID] = g.transport(s, routePool+r.ID, urlPool(s.config), security, nil)
		}
	}
	return own
}

// handshakes are those of the pools in force that have made any.
func (t *tlsState) handshakes() []telemetry.Handshakes {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []telemetry.Handshakes
	for _, key := range slices.Sorted(maps.Keys(t.tallies)) {
		if !t.tallies[key].Used() {
			continue
		}
		service := key
		route, own := strings.CutPrefix(key, routePool)
		if own {
			service = urlRoutes
		} else {
			route = ""
		}
		all = append(all, telemetry.Handshakes{Service: service, Route: route, Tally: t.tallies[key]})
	}
	return all
}
