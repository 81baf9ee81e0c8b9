package registry

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// Status is what the registry says about itself. Its JSON has the original's names
// where there are any (spec 1.7).
type Status struct {
	General struct {
		Environment string `json:"environment"`
		CPUs        string `json:"num-of-cpus"`
		Total       string `json:"total-avail-memory"`
		Memory      string `json:"current-memory-usage"`
		Uptime      string `json:"server-uptime"`
	} `json:"generalStats"`
	Replicas struct {
		Registered  string `json:"registered-replicas"`
		Available   string `json:"available-replicas"`
		Unavailable string `json:"unavailable-replicas"`
	} `json:"applicationStats"`
	// Healthy is nil unless a least number of peers is configured.
	Healthy *bool        `json:"isHealthy,omitempty"`
	Leases  LeaseStatus  `json:"leases"`
	Peers   []PeerStatus `json:"peers"`
	Regions []string     `json:"regions,omitempty"`
	// Subscribers are open push streams, Answers cached ones.
	Subscribers int              `json:"subscribers"`
	Answers     int              `json:"cachedAnswers"`
	Counters    map[string]int64 `json:"counters"`
}

// LeaseStatus is about leases and self-preservation.
type LeaseStatus struct {
	Applications     int    `json:"applications"`
	Instances        int    `json:"instances"`
	Expired          int    `json:"expired"`
	Hash             string `json:"hash"`
	Expected         int    `json:"expectedClients"`
	Threshold        int    `json:"renewsThreshold"`
	Renewals         int    `json:"renewsLastMinute"`
	Expires          bool   `json:"leaseExpirationEnabled"`
	SelfPreservation bool   `json:"selfPreservation"`
	// Preserving is true while leases that have run out are kept.
	Preserving bool `json:"preserving"`
	// BelowThreshold is not reported in the first minutes after the start.
	BelowThreshold bool `json:"belowRenewThreshold"`
	// Serving is false while the list may be partial.
	Serving bool `json:"serving"`
}

// PeerStatus is about one peer; URL has no credentials.
type PeerStatus struct {
	URL       string `json:"url"`
	Host      string `json:"host"`
	Available bool   `json:"available"`
	Queued    int    `json:"queued"`
	Told      int64  `json:"told"`
	Failed    int64  `json:"failed"`
	Expired   int64  `json:"expired"`
	Replaced  int64  `json:"replaced"`
	Dropped   int64  `json:"dropped"`
}

// Status describes the registry as it is now.
func (r *Registry) Status() Status {
	var s Status
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	s.General.Environment = r.settings.Environment
	s.General.CPUs = strconv.Itoa(runtime.NumCPU())
	s.General.Total = fmt.Sprintf("%dmb", memory.Sys>>20)
	s.General.Memory = fmt.Sprintf("%dmb (%d%%)", memory.HeapAlloc>>20, memory.HeapAlloc*100/max(memory.Sys, 1))
	s.General.Uptime = uptime(r.since())
	s.Leases = r.leaseStatus()
	s.Peers = r.peerStatus()
	available := 0
	for _, p := range s.Peers {
		s.Replicas.Registered += p.URL + ","
		if p.Available {
			available++
			s.Replicas.Available += p.URL + ","
		} else {
			s.Replicas.Unavailable += p.URL + ","
		}
	}
	if least := r.settings.Leases.MinAvailablePeers; least >= 0 {
		healthy := available >= least
		s.Healthy = &healthy
	}
	for _, g := range r.regions.all {
		s.Regions = append(s.Regions, g.name)
	}
	s.Subscribers, s.Answers, s.Counters = r.push.count(), r.cache.size(), r.Counters()
	return s
}

func (r *Registry) leaseStatus() LeaseStatus {
	expires, renewals := r.expires(), r.renewals.lastMinute(time.Now())
	r.mu.RLock()
	defer r.mu.RUnlock()
	expired := len(r.expired(0, ""))
	return LeaseStatus{
		Applications: len(r.apps), Instances: r.size, Expired: expired, Hash: r.counts.Hash(), Preserving: expired > 0 && !expires || r.tooMany(expired),
		Expected: r.expected, Threshold: r.threshold, Renewals: renewals, Expires: expires,
		SelfPreservation: r.settings.Leases.SelfPreservation,
		BelowThreshold:   renewals <= r.threshold && r.since() > r.settings.Leases.WaitWhenSyncEmpty,
		Serving:          !r.gated.Load(),
	}
}

func (r *Registry) peerStatus() []PeerStatus {
	all := []PeerStatus{}
	for _, p := range r.peers.current() {
		p.mu.Lock()
		all = append(all, PeerStatus{
			URL: p.name, Host: p.url.Host, Available: p.available.Load(), Queued: p.queue.len(), Told: p.sent.Load(), Failed: p.failed.Load(),
			Expired: p.queue.expired, Replaced: p.queue.overwritten, Dropped: p.queue.overflowed,
		})
		p.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b PeerStatus) int { return cmp.Compare(a.URL, b.URL) })
	return all
}

// uptime is hours and minutes, with days in front when there are any.
func uptime(d time.Duration) string {
	minutes := int(d.Minutes())
	text := fmt.Sprintf("%02d:%02d", minutes/60%24, minutes%60)
	if days := minutes / (24 * 60); days > 0 {
		return fmt.Sprintf("%d days %s", days, text)
	}
	return text
}

// Applications lists everything that is registered here and in the regions shown by
// default, sorted by name; what it gives is read-only.
func (r *Registry) Applications() *eureka.Applications { return r.full(r.regions.named("")) }
