package gozer

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gozer-gateway/gozer/internal/certs"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// upstreamFiles are files in force of gateway.tls.
type upstreamFiles struct {
	name     string // of the first entry that names them
	files    tlsout.Files
	material *tlsout.Material
}

// upstreamFiles lists those of all entries, each once however many entries share them; none of no
// snapshot.
func (s *snapshot) upstreamFiles() (all []upstreamFiles) {
	if s == nil {
		return nil
	}
	t := s.config.Gateway.TLS
	seen := map[tlsout.Files]bool{}
	add := func(name string, f tlsout.Files) {
		if m := s.tls.materials[f]; m != nil && !seen[f] {
			seen[f] = true
			all = append(all, upstreamFiles{upstreamEntry(name), f, m})
		}
	}
	add(everyUpstream, filesOf(t.All))
	for _, name := range slices.Sorted(maps.Keys(t.Own)) {
		add(name, filesOf(*t.Own[name]))
	}
	return all
}

// clientCertificates are those that registries and upstreams are shown.
func (g *Gateway) clientCertificates() (all []certs.Info) {
	if c := g.registries.material().Certificate(); c != nil {
		info := certs.Describe(c)
		info.Name, info.File, info.Problem = registryTLS, g.registries.files.Certificate, g.registries.problem()
		all = append(all, info)
	}
	for _, entry := range g.snapshot.Load().upstreamFiles() {
		c := entry.material.Certificate()
		if c == nil {
			continue
		}
		info := certs.Describe(c)
		info.Name, info.File, info.Problem = entry.name, entry.files.Certificate, g.state.tls.complaint(entry.files)
		all = append(all, info)
	}
	return all
}

// tellOfEnds warns of them until ctx ends.
func (g *Gateway) tellOfEnds(ctx context.Context) {
	var ends certs.Ends
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		ends.Tell(g.options.logger, g.clientCertificates(), g.inForce().Management.CertificateWarning)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// complaint is what has been logged about files as they are now, while what they were is in
// force.
func (t *tlsState) complaint(f tlsout.Files) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.complaints[f]
}
