package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// Store is what one listener's TLS is made of. Its methods may be called from any
// goroutine.
type Store struct {
	listener string // for the log
	log      *slog.Logger
	current  atomic.Pointer[View]
	outer    *tls.Config
	count    counters

	mu      sync.Mutex // guards what follows, and is held while the view is replaced
	tickets tickets
	ends    Ends
	told    map[string]string // the problems that the log has, by name
}

// New makes a store without certificates. listener names it in the log.
func New(listener string, log *slog.Logger) *Store {
	s := &Store{listener: listener, log: log, told: map[string]string{}}
	s.outer = &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			s.count.hellos.Add(1)
			return s.current.Load().config, nil
		},
	}
	return s
}

// Prepare reads what settings name and changes nothing. Files that are in force already and
// have become unusable are no failure: what they held goes on.
func (s *Store) Prepare(settings Settings) (*View, error) {
	return s.current.Load().next(settings)
}

// Adopt puts a view in force for the handshakes to come. With other demands on clients,
// sessions of the old view are not resumed.
func (s *Store) Adopt(v *View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(v)
}

// replace is Adopt; s.mu is held.
func (s *Store) replace(v *View) {
	old := s.current.Load()
	if old == nil || !v.trusts(old) {
		s.tickets = tickets{}
	}
	s.tickets.turn(s.outer, v.settings.TicketRotation)
	s.current.Store(v)
	s.tell(old, v)
}

// Config is for the listener. It is the same for all views.
func (s *Store) Config() *tls.Config { return s.outer }

// Run follows the files until ctx ends, with a look at them every interval; 0 means no looks
// at files. There must be a view.
func (s *Store) Run(ctx context.Context, interval time.Duration) {
	look := interval > 0
	if !look {
		interval = time.Minute // for the tickets and the ends of certificates
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.tend(look)
		}
	}
}

// tend does what is due.
func (s *Store) tend(look bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.current.Load()
	s.tickets.turn(s.outer, v.settings.TicketRotation)
	s.ends.Tell(s.log, s.describe(v), v.settings.Warning)
	if !look {
		return
	}
	next, err := v.next(v.settings)
	if err == nil && !next.same(v) { // an error cannot be: everything has been read before
		s.replace(next)
	}
}

// same tells whether two views of the same settings show the same.
func (v *View) same(old *View) bool {
	for i, e := range v.entries {
		if e.cert != old.entries[i].cert || e.problem != old.entries[i].problem {
			return false
		}
	}
	return reflect.DeepEqual(v.problems(), old.problems()) && v.trusts(old)
}

// tell logs what is new, and counts it. s.mu is held.
func (s *Store) tell(old, v *View) {
	for _, e := range v.entries {
		before := old.entry(e.pair)
		if before == nil || !bytes.Equal(before.cert.Leaf.Raw, e.cert.Leaf.Raw) {
			s.log.Info("certificate", "for", s.listener, "name", e.pair.Name, "hosts", e.hosts(), "serial", e.serial(), "ends", e.ends())
			if before != nil {
				s.count.replaced.Add(1)
			}
		}
	}
	if before := old; before != nil && !v.trusts(old) {
		s.log.Info("demands on clients' certificates have changed", "for", s.listener)
	}
	problems := v.problems()
	for name, problem := range problems {
		if s.told[name] != problem {
			s.count.refused.Add(1)
			s.log.Error("certificate files cannot be used, what they held before stays", "for", s.listener, "name", name, "error", problem)
		}
	}
	s.told = problems
	s.ends.Tell(s.log, s.describe(v), v.settings.Warning)
}

// Has tells whether there is a certificate for a host.
func (s *Store) Has(host string) bool {
	v := s.current.Load()
	return v != nil && v.table.has(host)
}
