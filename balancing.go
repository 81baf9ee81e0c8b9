package gozer

import (
	"context"
	"net/http"
	"reflect"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/lb"
)

// balancing is how a service's balancer is set up, and what that was made of: as long as
// that stays the same, a reload leaves the balancer alone.
type balancing struct {
	source   balancingSource
	settings lb.BalancerSettings
	retries  lb.RetryHandler // of the service's command
}

type balancingSource struct {
	ribbon    config.Ribbon
	balancers config.Balancers
	original  bool
	transport http.RoundTripper
}

// same compares what a balancer is set up from. Transports are compared as such: what is
// in them changes while they are used.
func (s balancingSource) same(o balancingSource) bool {
	if s.transport != o.transport {
		return false
	}
	s.transport, o.transport = nil, nil
	return reflect.DeepEqual(s, o)
}

// balancing translates the settings of a service's balancer. transport carries its pings.
func (g *Gateway) balancing(cfg *config.Config, id string, transport http.RoundTripper) (balancing, error) {
	r := cfg.RibbonFor(id)
	parts, err := g.parts(cfg, id, r)
	if err != nil {
		return balancing{}, err
	}
	all, b := cfg.Balancers, r.Balancing
	s := lb.BalancerSettings{
		Class:          parts.class,
		NewRule:        parts.newRule,
		Trip:           lb.TripPolicy{Failures: r.Trip.Failures, Factor: r.Trip.Factor, Max: r.Trip.Max},
		KeepTripped:    !all.AvoidTripped,
		ActiveLimit:    firstLimit(b.ActiveLimit, all.ActiveLimit),
		ActiveWindow:   all.ActiveWindow,
		Zones:          lb.ZonePolicy{Off: parts.zonesOff, Load: orNever(b.Zones.Load), Blackout: orNever(b.Zones.Blackout), Original: cfg.Gateway.Compat.ZoneAvoidance},
		Outliers:       outlierPolicy(b.Outliers),
		SlowStart:      b.SlowStart,
		List:           parts.list,
		Filter:         parts.filter,
		Updater:        parts.updater,
		Ping:           parts.ping(transport, lb.SecurePolicy{IsSecure: r.Secure, Ports: r.SecurePorts}),
		PingStrategy:   pingStrategy(b),
		PingInterval:   b.PingInterval,
		PingTimeout:    b.PingTimeout,
		Prime:          primePolicy(r, transport),
		WeightInterval: b.WeightInterval,
		Logger:         g.options.logger,
		OnStatus:       []lb.StatusListener{g.logStatus(id)},
	}
	return balancing{balancingSource{r, all, cfg.Gateway.Compat.ZoneAvoidance, transport}, s, parts.retries}, nil
}

// logStatus tells of servers that pings find dead or alive again.
func (g *Gateway) logStatus(service string) lb.StatusListener {
	return func(changed []*lb.Server) {
		for _, s := range changed {
			g.options.logger.Info("server", "service", service, "server", s.String(), "alive", s.Alive())
		}
	}
}

func firstLimit(limits ...int) int {
	for _, n := range limits {
		if n >= 0 {
			return n
		}
	}
	return 0
}

func outlierPolicy(o config.Outliers) *lb.OutlierPolicy {
	if !o.Enabled {
		return nil
	}
	return &lb.OutlierPolicy{
		ErrorsInARow: orNever(o.ErrorsInARow), ErrorShare: shareOrNever(o.ErrorShare), LatencyFactor: o.LatencyFactor, MinRequests: o.MinRequests,
		Interval: o.Interval, BaseTime: o.BaseTime, MaxTime: o.MaxTime, MaxShare: orNever(o.MaxShare), PanicShare: orNever(o.PanicShare),
	}
}

// shareOrNever makes the 0 of the configuration, which means never, a share that nothing has.
func shareOrNever(share float64) float64 {
	if share == 0 {
		return 2
	}
	return share
}

// orNever makes the 0 of the configuration, which means never, none or that anything is
// enough, the -1 of package lb, where 0 stands for a default.
func orNever[T int | float64](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

func pingStrategy(b config.Balancing) lb.PingStrategy {
	if b.PingParallel {
		return lb.ParallelPing{}
	}
	return new(lb.SerialPing)
}

func primePolicy(r config.Ribbon, transport http.RoundTripper) *lb.PrimePolicy {
	p := r.Balancing.Prime
	if !p.Enabled {
		return nil
	}
	return &lb.PrimePolicy{
		Primer:   &lb.HTTPPrimer{Transport: transport, Secure: lb.SecurePolicy{IsSecure: r.Secure, Ports: r.SecurePorts}, Path: p.Path},
		Retries:  orNever(p.Retries),
		MaxTime:  p.MaxTime,
		MinRatio: orNever(p.MinRatio),
	}
}

// refresh has a balancer read its list. None of the lists blocks, and the balancer has
// logged what is wrong.
func refresh(b *lb.Balancer) { _ = b.Refresh(context.Background()) }
