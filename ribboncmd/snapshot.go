package ribboncmd

import (
	"cmp"
	"slices"
)

// Snapshot is a command's state at one moment, for management.
type Snapshot struct {
	Service string
	State   State // of the circuit, whatever the force flags say
	IsOpen  bool  // Hystrix's view: force flags first, half-open is open

	Requests, Errors int64 // in the health window, as last judged
	ErrorPercentage  int

	Concurrent int64 // calls in progress
	Waiting    int   // calls in the queue of the pool, those of other commands too
	Fallbacks  int64 // fallbacks in progress

	Events   map[Event]int64 // since the state was made; zero counts are left out
	Settings Settings        // in force: those of the latest execution
}

// Snapshots returns all commands that have executed lately, by service id.
func (c *Commands) Snapshots() []Snapshot {
	c.mu.Lock()
	states := make([]*state, 0, len(c.states))
	for _, s := range c.states {
		states = append(states, s)
	}
	c.mu.Unlock()

	snapshots := make([]Snapshot, 0, len(states))
	for _, s := range states {
		snapshots = append(snapshots, s.snapshot(s.policy.Load()))
	}
	slices.SortFunc(snapshots, func(a, b Snapshot) int { return cmp.Compare(a.Service, b.Service) })
	return snapshots
}

// Snapshot returns the state of the command's service under the command's own
// settings, whichever are in force.
func (c *Command) Snapshot() Snapshot {
	a := c.attached.Load()
	if a == nil || a.state.forgotten.Load() {
		a = c.commands.attach(c.service, &c.policy)
	}
	return a.state.snapshot(&c.policy)
}

func (s *state) snapshot(p *policy) Snapshot {
	health := s.window.Load().Counts()
	circuit := s.breaker.current()
	snapshot := Snapshot{
		Service:         s.service,
		State:           circuit,
		IsOpen:          p.Breaker.shows(circuit),
		Requests:        health.Total,
		Errors:          health.Errors,
		ErrorPercentage: health.ErrorPercentage(),
		Concurrent:      s.running.held.Load(),
		Fallbacks:       s.fallbacks.held.Load(),
		Events:          make(map[Event]int64),
		Settings:        p.Settings,
	}
	if shared := s.pool.Load(); shared != nil {
		snapshot.Waiting = shared.waiting()
	}
	for e := range numEvents {
		if n := s.events[e].Load(); n > 0 {
			snapshot.Events[e] = n
		}
	}
	return snapshot
}

// shows is Hystrix's isOpen.
func (s *BreakerSettings) shows(circuit State) bool {
	switch {
	case !s.Enabled:
		return false
	case s.ForceOpen:
		return true
	case s.ForceClosed:
		return false
	}
	return circuit != Closed
}
