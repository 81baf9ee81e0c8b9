package lb

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/internal/rescue"
)

// Run does what the policy asks for at intervals: it reads the list, pings, primes new
// servers, renews weights and judges outliers, until ctx ends. It follows Configure. Call
// it once; without it Choose works on what SetServers, SetAlive and Refresh say.
func (b *Balancer) Run(ctx context.Context) {
	b.running.Store(true)
	defer b.running.Store(false)
	for ctx.Err() == nil {
		b.mu.Lock()
		p := b.policy
		b.mu.Unlock()
		b.work(ctx, p)
	}
}

// work does the work of one policy until another is in force.
func (b *Balancer) work(ctx context.Context, p *policy) {
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, job := range b.jobs(p) {
		wg.Go(func() { job(ctx) })
	}
	select {
	case <-ctx.Done():
	case <-p.changed:
	}
	stop()
	wg.Wait()
}

func (b *Balancer) jobs(p *policy) []func(context.Context) {
	var jobs []func(context.Context)
	if p.Updater != nil {
		jobs = append(jobs, func(ctx context.Context) { p.Updater.Run(ctx, b.Refresh) })
	}
	if p.pings {
		jobs = append(jobs, func(ctx context.Context) { b.pingAll(ctx, p) })
	}
	if p.Prime != nil {
		jobs = append(jobs, func(ctx context.Context) { b.primeAll(ctx, p) })
	}
	if renews(p.rule) {
		jobs = append(jobs, func(ctx context.Context) { every(ctx, p.WeightInterval, b.sheltered(p, b.renew)) })
	}
	if p.Outliers != nil {
		jobs = append(jobs, func(ctx context.Context) { every(ctx, p.Outliers.Interval, b.sheltered(p, b.judge)) })
	}
	return jobs
}

// every calls do at intervals.
func every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do()
		}
	}
}

// renew has the rule prepare anew.
func (b *Balancer) renew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rebuild(time.Now(), false)
}

// judge ejects outliers at the end of an interval.
func (b *Balancer) judge() {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, now := b.policy, time.Now()
	if p.Outliers == nil {
		return
	}
	p.Outliers.judge(b.listed, now, true)
	if slices.ContainsFunc(b.view.Load().eligible, func(s *Server) bool { return s.Ejected(now) }) {
		b.rebuild(now, false)
	}
}

// Refresh reads the list of the policy now and applies the filter. Without a list it
// applies the filter alone. If nothing could be read the servers stay. An error, or a panic that
// has become one, is logged too, unless it is the same as before.
func (b *Balancer) Refresh(ctx context.Context) error {
	b.refreshing.Lock()
	defer b.refreshing.Unlock()
	b.mu.Lock()
	p := b.policy
	b.mu.Unlock()
	err := rescue.Do(func() error { return b.read(ctx, p) })
	if b.complaints.news(listUnread, err) {
		p.Logger.WarnContext(ctx, listUnread, b.about(err)...)
	}
	if err != nil {
		return fmt.Errorf("lb: servers of %s: %w", b.name, err)
	}
	return nil
}

func (b *Balancer) read(ctx context.Context, p *policy) error {
	if p.List == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.rebuild(time.Now(), true)
		return nil
	}
	servers, err := p.List.Servers(ctx)
	if err == nil || len(servers) > 0 {
		b.SetServers(servers)
	}
	return err
}

// pingAll pings at once and then at intervals, and when servers have come.
func (b *Balancer) pingAll(ctx context.Context, p *policy) {
	wait := time.NewTimer(p.PingInterval)
	defer wait.Stop()
	for ctx.Err() == nil {
		select {
		case <-b.fresh: // this round sees them
		default:
		}
		b.guard(p, atIntervals, func() { b.ping(ctx, p) })
		wait.Reset(p.PingInterval)
		select {
		case <-ctx.Done():
		case <-wait.C:
		case <-b.fresh:
		}
	}
}

// ping asks every server once.
func (b *Balancer) ping(ctx context.Context, p *policy) {
	round, cancel := context.WithTimeout(ctx, p.PingTimeout)
	defer cancel()
	alive := map[*Server]bool{}
	ping := &shelteredPing{ping: p.Ping, failed: func(err error) {
		if b.complaints.news(pingPanicked, err) {
			p.Logger.ErrorContext(ctx, pingPanicked, b.about(err)...)
		}
	}}
	p.PingStrategy.Ping(round, ping, slices.Clone(b.Servers()), func(s *Server, is bool) { alive[s] = is })
	if !ping.panicked.Load() {
		b.complaints.news(pingPanicked, nil)
	}
	if ctx.Err() != nil {
		return // the answers may be those of a ping that was called off
	}
	b.revise(func(s *Server) (is, known bool) {
		is, known = alive[s]
		return is, known
	})
}

// primeAll primes the servers that come.
func (b *Balancer) primeAll(ctx context.Context, p *policy) {
	ready := func(servers []*Server) { b.guard(p, atIntervals, func() { b.ready(servers) }) }
	for {
		select {
		case <-ctx.Done():
			ready(b.unprimed())
			return
		case <-b.primed:
		}
		servers := b.unprimed()
		p.Prime.prime(ctx, servers, func(s *Server) { ready([]*Server{s}) })
		ready(servers)
	}
}

func (b *Balancer) unprimed() []*Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	servers := b.prime
	b.prime = nil
	return servers
}

// ready lets primed servers have requests.
func (b *Balancer) ready(servers []*Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed := false
	for _, s := range servers {
		changed = s.state.unready.Swap(false) || changed
	}
	if changed {
		b.rebuild(time.Now(), false)
	}
}
