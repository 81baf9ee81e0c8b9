package ribboncmd

import (
	"cmp"
	"slices"
)

// Snapshot is a command's state at one moment, for management.
type Snapshot struct {
	Service  string // the command key
	Group    string
	State    State // of the circuit, whatever the force flags say
	IsOpen   bool  // Hystrix's view: force flags first, half-open is open
	Override Override

	Requests, Errors, Slow int64 // in the health window, as last judged
	ErrorPercentage        int

	Concurrent    int64 // calls in progress
	MaxConcurrent int64 // most calls at once in the rolling window
	Limit         int   // permits there are; with Thread isolation the pool has them
	Waiting       int   // calls in the queue of the pool, those of other commands too
	Fallbacks     int64 // fallbacks in progress

	Events  map[Event]int64 // since the state was made; zero counts are left out
	Rolling map[Event]int64 // the same in the closed buckets of the rolling window

	Execute, Total Latency // of the calls themselves, and as their callers saw it

	Settings Settings // in force: those of the latest execution
}

// Snapshots returns all commands that have executed lately, by command key.
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

// Pools returns the pools that have been used lately, by key.
func (c *Commands) Pools() []PoolSnapshot {
	c.mu.Lock()
	pools := make([]PoolSnapshot, 0, len(c.pools))
	for key, p := range c.pools {
		pools = append(pools, p.snapshot(key))
	}
	c.mu.Unlock()
	slices.SortFunc(pools, func(a, b PoolSnapshot) int { return cmp.Compare(a.Key, b.Key) })
	return pools
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
	health := s.Counts()
	rolling, most := s.rolling.Load().sums()
	latency := s.timings.show()
	snapshot := Snapshot{
		Service:         s.service,
		Group:           p.group(),
		State:           s.breaker.current(),
		IsOpen:          s.breaker.isOpen(&p.Breaker),
		Override:        Override(s.breaker.override.Load()),
		Requests:        health.Total,
		Errors:          health.Errors,
		Slow:            health.Slow,
		ErrorPercentage: health.ErrorPercentage(),
		Concurrent:      s.running.held.Load(),
		MaxConcurrent:   most,
		Limit:           s.limit(&p.Settings),
		Fallbacks:       s.fallbacks.held.Load(),
		Events:          byEvent(s.counters.sums()),
		Rolling:         byEvent(rolling),
		Execute:         latency.run,
		Total:           latency.total,
		Settings:        p.Settings,
	}
	if shared := s.pool.Load(); shared != nil {
		snapshot.Waiting = shared.waiting()
	}
	return snapshot
}

func byEvent(sums [numCounters]int64) map[Event]int64 {
	counts := make(map[Event]int64)
	for e := range numEvents {
		if sums[e] > 0 {
			counts[e] = sums[e]
		}
	}
	return counts
}
