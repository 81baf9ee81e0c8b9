package lb

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// OutlierPolicy says which servers are ejected because they do worse than they should,
// and how many may be. Zero fields mean the defaults. Tripping, which looks at
// connections only, goes on beside it.
type OutlierPolicy struct {
	// ErrorsInARow eject at once: responses with a status of 500 or above and failed
	// connections, 5 by default; negative means they do not.
	ErrorsInARow int
	// ErrorShare of the requests of an interval ejects, 0 to 1; 0.5 by default, above 1 never.
	ErrorShare float64
	// LatencyFactor ejects a server whose mean response time of an interval is above that
	// many times the median of all servers; 0 by default, which means never.
	LatencyFactor float64
	// MinRequests is how many requests a share or a mean must stand on; 20 by default. They are
	// collected over several intervals if need be.
	MinRequests int
	// Interval is the time between two judgements, 1 s by default.
	Interval time.Duration
	// BaseTime is how long the first ejection lasts, 10 s by default; the n-th one in short
	// order lasts n times as long, up to MaxTime, 5 min by default.
	BaseTime, MaxTime time.Duration
	// MaxShare is the share of the servers that may be ejected, 0.5 by default; one may always
	// be if there is another, and negative means no more than that.
	MaxShare float64
	// PanicShare is the share of the servers that must be left, ejected and tripped ones taken
	// off: below it all that are alive are used, since the fault is likely to lie elsewhere.
	// 0.3 by default; negative means no panic.
	PanicShare float64
}

func (p *OutlierPolicy) withDefaults() OutlierPolicy {
	d := *p
	set(&d.ErrorsInARow, 5)
	set(&d.ErrorShare, 0.5)
	positive(&d.MinRequests, 20)
	positive(&d.Interval, time.Second)
	positive(&d.BaseTime, 10*time.Second)
	positive(&d.MaxTime, 5*time.Minute)
	set(&d.MaxShare, 0.5)
	set(&d.PanicShare, 0.3)
	return d
}

// set gives a field its default.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// positive is set for what makes no sense below zero either.
func positive[T cmp.Ordered](field *T, value T) {
	var zero T
	if *field <= zero {
		*field = value
	}
}

// outlier is what is known of a server for the policy. All but until is guarded by the
// balancer's mu.
type outlier struct {
	until atomic.Int64 // unix nanoseconds of the end of the last ejection
	times int          // ejections in short order

	requests, errors int64 // counts of the beginning of what is judged next
	sum              int64
}

// judge ejects the servers that are outliers now. periodic is the end of an interval;
// otherwise only errors in a row count.
func (p *OutlierPolicy) judge(servers []*Server, now time.Time, periodic bool) {
	median := int64(0)
	if periodic && p.LatencyFactor > 0 {
		median = p.medianMean(servers)
	}
	room := p.room(servers, now.UnixNano())
	for _, s := range servers {
		o := &s.state.outlier
		if o.until.Load() > now.UnixNano() {
			o.forget(s.Stats())
			continue
		}
		bad := p.ErrorsInARow > 0 && s.Stats().inARow.Load() >= int64(p.ErrorsInARow)
		if periodic && p.due(s) {
			bad = p.bad(s, median) || bad
			o.forget(s.Stats())
			if !bad && o.times > 0 {
				o.times--
			}
		}
		if bad && room > 0 {
			room--
			p.eject(s, now)
		}
	}
}

// room is how many more servers may be ejected.
func (p *OutlierPolicy) room(servers []*Server, now int64) int {
	alive, out := 0, 0
	for _, s := range servers {
		if s.Alive() {
			alive++
			if s.state.outlier.until.Load() > now {
				out++
			}
		}
	}
	most := max(int(float64(alive)*p.MaxShare), 1)
	return min(most, alive-1) - out
}

func (p *OutlierPolicy) eject(s *Server, now time.Time) {
	o := &s.state.outlier
	o.times++
	o.until.Store(now.Add(min(p.BaseTime*time.Duration(o.times), p.MaxTime)).UnixNano())
	o.forget(s.Stats())
	s.Stats().inARow.Store(0)
}

// forget begins what is judged next.
func (o *outlier) forget(stats *ServerStats) {
	o.requests, o.errors, o.sum = stats.total.Load(), stats.errors.Load(), stats.sum.Load()
}

// due reports that there are enough requests to judge a server by.
func (p *OutlierPolicy) due(s *Server) bool {
	return s.Stats().total.Load()-s.state.outlier.requests >= int64(p.MinRequests)
}

func (p *OutlierPolicy) bad(s *Server, median int64) bool {
	o, stats := &s.state.outlier, s.Stats()
	requests := stats.total.Load() - o.requests
	if float64(stats.errors.Load()-o.errors) >= p.ErrorShare*float64(requests) {
		return true
	}
	return median > 0 && float64(mean(s)) > p.LatencyFactor*float64(median)
}

// mean is that of the response times since the last judgement.
func mean(s *Server) int64 {
	o, stats := &s.state.outlier, s.Stats()
	return (stats.sum.Load() - o.sum) / max(stats.total.Load()-o.requests, 1)
}

func (p *OutlierPolicy) medianMean(servers []*Server) int64 {
	var means []int64
	for _, s := range servers {
		if p.due(s) {
			means = append(means, mean(s))
		}
	}
	if len(means) < 2 {
		return 0
	}
	slices.Sort(means)
	return means[(len(means)-1)/2]
}

// Ejected reports that the server is out because it did worse than the others.
func (s *Server) Ejected(now time.Time) bool {
	return s.state != nil && s.state.outlier.until.Load() > now.UnixNano()
}
