package eureka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// ErrNoServer means that no registry has answered a call.
var ErrNoServer = errors.New("eureka: no registry has answered")

const mostAttempts = 3

// session finds a registry for each call and stays with the one that answers
// (section 5.7). One that fails is left for another, and left out until too many are.
type session struct {
	servers  []*endpoint
	share    float64
	lifetime time.Duration
	exchange exchange
	log      *slog.Logger

	mu         sync.Mutex // guards the fields below
	kept       *endpoint
	moved      *endpoint // where kept has redirected to
	quarantine map[*endpoint]bool
	expires    time.Time
}

func newSession(s ServerSettings, servers []*endpoint, x exchange) *session {
	return &session{servers: servers, share: s.QuarantineShare, lifetime: s.ReconnectInterval, exchange: x, log: s.Logger, quarantine: map[*endpoint]bool{}}
}

// do sends a call to up to three registries and returns the first status that counts
// as an answer.
func (s *session) do(ctx context.Context, c *call) (status int, err error) {
	s.renew()
	round := round{session: s}
	var failures []error
	for range mostAttempts {
		target, chosen := round.next()
		if target == nil {
			break
		}
		status, err := s.follow(ctx, target, c)
		if err == nil && c.accepts(status) {
			s.keep(target)
			return status, nil
		}
		if err == nil {
			err = fmt.Errorf("%s %s: status %d", c.name, target, status)
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
		s.drop(target, chosen)
	}
	return 0, fmt.Errorf("%w: %w", ErrNoServer, errors.Join(failures...))
}

// round is one call's way through the registries.
type round struct {
	*session
	listed bool
	left   []*endpoint
}

// next gives the registry to try, nil when there is none left, and whether it was
// chosen just now.
func (r *round) next() (target *endpoint, chosen bool) {
	if kept := r.current(); kept != nil {
		return kept, false
	}
	if !r.listed {
		r.left, r.listed = r.candidates(), true
	}
	if len(r.left) == 0 {
		return nil, false
	}
	target, r.left = r.left[0], r.left[1:]
	return target, true
}

// renew forgets everything once the session is old enough.
func (s *session) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.expires.IsZero() || now.After(s.expires) {
		s.expires = now.Add(time.Duration(float64(s.lifetime) * (0.5 + rand.Float64())))
		s.kept, s.moved = nil, nil
		clear(s.quarantine)
	}
}

func (s *session) current() *endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

func (s *session) keep(e *endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept != e {
		s.kept = e
		s.log.Debug("eureka: staying with a registry", "registry", e.String())
	}
}

// drop leaves a registry that failed; one that had just been chosen is quarantined.
func (s *session) drop(e *endpoint, chosen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == e {
		s.kept = nil
	}
	s.moved = nil
	if chosen {
		s.quarantine[e] = true
	}
}

// candidates lists the registries that are not in quarantine, which ends for all when
// it holds too many.
func (s *session) candidates() []*endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.quarantine) > 0 && len(s.quarantine) >= int(float64(len(s.servers))*s.share) {
		clear(s.quarantine)
	}
	free := make([]*endpoint, 0, len(s.servers))
	for _, e := range s.servers {
		if !s.quarantine[e] {
			free = append(free, e)
		}
	}
	return free
}

const mostHops = 10

// follow goes where a registry redirects to, and remembers the place.
func (s *session) follow(ctx context.Context, e *endpoint, c *call) (int, error) {
	target := s.moveOf(e)
	for range mostHops + 1 {
		status, location, err := s.exchange(ctx, target, c)
		if err != nil || status != http.StatusFound {
			return status, s.settle(e, target, err)
		}
		if target, err = target.redirected(location); err != nil {
			return 0, fmt.Errorf("%s %s: %w", c.name, e, err)
		}
	}
	return 0, fmt.Errorf("%s %s: more than %d redirects", c.name, e, mostHops)
}

func (s *session) moveOf(e *endpoint) *endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moved != nil && s.kept == e {
		return s.moved
	}
	return e
}

func (s *session) settle(e, target *endpoint, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moved = target; err != nil || target == e {
		s.moved = nil
	}
	return err
}
