package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/filters"
)

const (
	// urlRoutes is the label of attempts that no service has made.
	urlRoutes = "_url"
	// otherServers stands for servers beyond Settings.MaxServers.
	otherServers = "other"
)

// serviceCounts counts the attempts of a service by server.
type serviceCounts struct {
	id      string
	servers atomic.Pointer[map[string]*serverCounts] // never changed, only replaced

	mu       sync.Mutex // held by whoever replaces servers or makes overflow
	overflow atomic.Pointer[serverCounts]
}

// serverCounts counts the attempts on a server.
type serverCounts struct {
	id       string
	took     *histogram
	outcomes [numOutcomes]atomic.Int64
}

func newServiceCounts(id string) *serviceCounts {
	s := &serviceCounts{id: id}
	s.servers.Store(&map[string]*serverCounts{})
	return s
}

// of finds the counters of a server, and makes them if it is new.
func (s *serviceCounts) of(server string, settings *Settings) *serverCounts {
	known := *s.servers.Load()
	if c := known[server]; c != nil {
		return c
	}
	if c := s.overflow.Load(); c != nil && len(known) >= settings.MaxServers {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known = *s.servers.Load()
	if c := known[server]; c != nil {
		return c
	}
	if len(known) >= settings.MaxServers {
		if s.overflow.Load() == nil {
			s.overflow.Store(&serverCounts{id: otherServers, took: newHistogram(settings.ClientBuckets)})
		}
		return s.overflow.Load()
	}
	next := maps.Clone(known)
	next[server] = &serverCounts{id: server, took: newHistogram(settings.ClientBuckets)}
	s.servers.Store(&next)
	return next[server]
}

// prune forgets the servers that are not listed any more.
func (s *serviceCounts) prune(listed map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(*s.servers.Load())
	before := len(next)
	maps.DeleteFunc(next, func(id string, _ *serverCounts) bool { return !listed[id] })
	if len(next) < before {
		s.servers.Store(&next)
	}
}

func (s *serviceCounts) all() []*serverCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*serverCounts
	for _, c := range *s.servers.Load() {
		all = append(all, c)
	}
	if c := s.overflow.Load(); c != nil {
		all = append(all, c)
	}
	return all
}

func (c *serverCounts) add(a *filters.Attempt) {
	c.took.add(a.Took, a.Start.Add(a.Took))
	c.outcomes[outcomeIndex(a)].Add(1)
}

// numOutcomes are the classes of statuses, then the causes of failures.
const numOutcomes = numClasses + 12

// causes are what filters.Attempt.Cause may be, and a word for what it may not.
func causes() [numOutcomes - numClasses]string {
	return [...]string{
		"failed", "broken", "connect", "tls", "timeout", "deadline", "dns", "unreachable", "throttled", "cancelled", "aborted", "no_server",
	}
}

func outcomeName(i int) string {
	if i < numClasses {
		return className(i)
	}
	return causes()[i-numClasses]
}

func outcomeIndex(a *filters.Attempt) int {
	switch {
	case a.Cause == "" && a.Status == 0:
		return numClasses // a transport that panicked
	case a.Cause == "":
		return classIndex(a.Status)
	}
	for i, cause := range causes() {
		if cause == a.Cause {
			return numClasses + i
		}
	}
	return numClasses
}
