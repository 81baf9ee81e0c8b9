package ribboncmd

import "time"

// schedule is the registry's view of a state; times count from its start.
type schedule struct {
	healthEnd, countsEnd, latencyEnd roller
	seen                             int64 // events at the last roll of the health window
	idle                             time.Duration
}

// roller tells when the bucket of a rolling window ends.
type roller struct{ next, length time.Duration }

// begin makes buckets of a length end together with all others of that length.
func (r *roller) begin(now, length time.Duration) {
	r.next, r.length = now.Truncate(length)+length, length
}

// ended moves past now and tells how many buckets of a length have ended. One that
// has got another length meanwhile begins now.
func (r *roller) ended(now, length time.Duration) int {
	if length != r.length {
		r.begin(now, length)
	}
	if now < r.next {
		return 0
	}
	n := int((now-r.next)/length) + 1
	r.next += time.Duration(n) * length
	return n
}

func (d *schedule) begin(now time.Duration, p *policy) {
	d.healthEnd.begin(now, p.interval())
	d.countsEnd.begin(now, p.counterInterval())
	d.latencyEnd.begin(now, p.latencyInterval())
}

func (d *schedule) nextEnd() time.Duration {
	return min(d.healthEnd.next, d.countsEnd.next, d.latencyEnd.next)
}

// due is what has to be rolled, and how often.
type due struct {
	state                   *state
	health, counts, latency int
}

// advance moves the schedule of a state past now. It keeps account of the idle
// time.
func (s *state) advance(now time.Duration) due {
	p := s.policy.Load()
	d := due{
		state:   s,
		health:  s.healthEnd.ended(now, p.interval()),
		counts:  min(s.countsEnd.ended(now, p.counterInterval()), p.counterBuckets()),
		latency: min(s.latencyEnd.ended(now, p.latencyInterval()), p.latencyBuckets()),
	}
	if d.health > 0 {
		s.rest(time.Duration(d.health) * p.interval())
		d.health = min(d.health, p.buckets())
	}
	return d
}

// rest notes that a stretch of time has passed, in which perhaps nothing happened.
func (s *state) rest(passed time.Duration) {
	if seen := s.total(); seen != s.seen || !s.quiet() {
		s.seen, s.idle = seen, 0
	} else {
		s.idle += passed
	}
}

func (s *state) stale() bool { return s.idle >= forgetAfter || s.retired.Load() && s.unused() }

// roll closes buckets and lets the breaker judge each new sum of health.
func (d *due) roll() {
	s := d.state
	for range d.health {
		sums := s.counters.sums()
		s.window.Load().Roll(health(&sums))
		s.breaker.judge(s.policy.Load())
		s.limiter.update(&s.policy.Load().Adaptive)
	}
	for range d.counts {
		s.rolling.Load().roll(s.counters.sums(), s.running.takePeak())
	}
	for range d.latency {
		s.timings.roll()
	}
}
