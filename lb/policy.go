package lb

import (
	"log/slog"
	"time"
)

// BalancerClass is what Ribbon has several classes of load balancers for.
type BalancerClass uint8

// The classes. BaseLoadBalancer and DynamicServerListLoadBalancer are one here: the
// balancer reads a list if it is given one.
const (
	// Dynamic asks the rule for a server out of all zones.
	Dynamic BalancerClass = iota
	// ZoneAware draws a zone first when another one is to be avoided.
	ZoneAware
	// NoOp never has a server.
	NoOp
)

// BalancerSettings are the policy of a Balancer; they may be replaced while it works. The
// zero value rotates over the servers that SetServers lists.
type BalancerSettings struct {
	Class BalancerClass
	// NewRule makes the rule that chooses the server, and one more for each zone of a
	// ZoneAware balancer; nil, or a nil rule, means a RoundRobin.
	NewRule func() Rule
	// Trip says when a server whose connections fail is avoided.
	Trip TripPolicy
	// KeepTripped avoids no server for that (filterCircuitTripped: false).
	KeepTripped bool
	// ActiveLimit is the number of active requests at which a server is full for the rules
	// that care (ActiveConnectionsLimit); 0 means none.
	ActiveLimit int
	// ActiveWindow is the time without a start or an end after which active requests are
	// forgotten; 0 means 10 minutes.
	ActiveWindow time.Duration
	// Zones says when a zone is avoided.
	Zones ZonePolicy
	// Outliers says which servers are ejected because they do worse than others; nil: none.
	Outliers *OutlierPolicy
	// SlowStart is the time in which the share of a server grows that is new or has come
	// back; 0 gives it all at once.
	SlowStart time.Duration

	// List is read by Refresh and by Run; nil leaves the list to SetServers.
	List ServerList
	// Filter narrows the list; nil leaves it as it is.
	Filter ListFilter
	// Updater decides when Run reads List again, or applies Filter again if List is nil; nil
	// means never.
	Updater ListUpdater
	// Ping finds out which servers are alive; nil or a DummyPing takes all for alive.
	Ping Ping
	// PingStrategy pings all servers; nil means serially.
	PingStrategy PingStrategy
	// PingInterval is the wait between two rounds, 30 s by default (NFLoadBalancerPingInterval).
	PingInterval time.Duration
	// PingTimeout bounds a round, 2 s by default (NFLoadBalancerMaxTotalPingTime).
	PingTimeout time.Duration
	// Prime opens connections to new servers before they get requests; nil does not. Only
	// servers that come while Run works are primed.
	Prime *PrimePolicy
	// WeightInterval is how often Run has the rules prepare anew that judge by response times,
	// 30 s by default (ServerWeightTaskTimerInterval).
	WeightInterval time.Duration

	// OnList are told, one after the other, that the list of ids has changed.
	OnList []ListListener
	// OnStatus are told which servers have gone down or come up.
	OnStatus []StatusListener
	// Logger is told of lists that cannot be read; nil means slog.Default.
	Logger *slog.Logger
}

// ListListener learns what the list was and what it is. It is called after the change,
// by the goroutine that made it, with no lock held. The slices are shared.
type ListListener func(before, after []*Server)

// StatusListener learns which servers have changed between alive and not, never none. It
// is called like a ListListener.
type StatusListener func(changed []*Server)

// policy is a BalancerSettings in use, with what belongs to it.
type policy struct {
	BalancerSettings
	rule      Rule
	settled   Rule            // for requests that a slow start keeps from a new server; nil without one
	zoneRules map[string]Rule // guarded by the balancer's mu
	patience  time.Duration
	pings     bool
	spares    bool
	strict    bool
	changed   chan struct{} // closed when another policy is in force
}

func newPolicy(s BalancerSettings) *policy {
	rule := Rule(nil)
	if s.NewRule != nil {
		rule = s.NewRule()
	}
	if rule == nil {
		s.NewRule = func() Rule { return new(RoundRobin) }
		rule = s.NewRule()
	}
	s.Trip = s.Trip.withDefaults()
	positive(&s.PingInterval, 30*time.Second)
	positive(&s.PingTimeout, 2*time.Second)
	positive(&s.WeightInterval, 30*time.Second)
	if s.PingStrategy == nil {
		s.PingStrategy = new(SerialPing)
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.Outliers != nil {
		outliers := s.Outliers.withDefaults()
		s.Outliers = &outliers
	}
	p := &policy{BalancerSettings: s, rule: rule, zoneRules: map[string]Rule{}, changed: make(chan struct{})}
	if s.SlowStart > 0 {
		p.settled = s.NewRule()
	}
	p.patience = patience(p.rule)
	_, dummy := s.Ping.(DummyPing)
	p.pings = s.Ping != nil && !dummy
	spare, ok := s.Filter.(Spare)
	p.spares = ok && spare.SparesOthers()
	strict, ok := s.Filter.(Strict)
	p.strict = ok && strict.Strict()
	return p
}

// zoneRule is the rule of one zone of a ZoneAware balancer.
func (p *policy) zoneRule(zone string) Rule {
	rule := p.zoneRules[zone]
	if rule == nil {
		rule = p.NewRule()
		p.zoneRules[zone] = rule
	}
	return rule
}

// panics reports that so few servers are left that all are used.
func (p *policy) panics(eligible, alive int) bool {
	return p.Outliers != nil && float64(eligible) < p.Outliers.PanicShare*float64(alive)
}

// forget drops the rules of zones that are gone.
func (p *policy) forget(z *Zones) {
	for name := range p.zoneRules {
		if _, found := z.find(name); !found {
			delete(p.zoneRules, name)
		}
	}
}
