package registry

import (
	"net/http"
	"slices"
	"time"
)

// fetch is what a client reads, for the rate limiter.
type fetch uint8

const (
	fetchApp fetch = iota
	fetchDelta
	fetchFull
)

// limiter is the original's limit for reading lists (spec 4.13).
type limiter struct {
	settings  RateLimitSettings
	all, full *bucket
}

func newLimiter(s RateLimitSettings) *limiter {
	return &limiter{s, newBucket(s.Burst, s.AllPerSecond, time.Second), newBucket(s.Burst, s.FullPerSecond, time.Second)}
}

// privileged reports whether a client is never refused.
func (l *limiter) privileged(client string) bool {
	if l.settings.ThrottleStandard {
		return false
	}
	return client == "DefaultClient" || client == "DefaultServer" || client != "" && slices.Contains(l.settings.PrivilegedClients, client)
}

func (l *limiter) over(f fetch, now time.Time) bool {
	return !l.all.acquire(now) || f == fetchFull && !l.full.acquire(now)
}

// limited refuses with 503 what comes too often, or only counts it when the limiter
// is off.
func (a *api) limited(f fetch, next reader) reader {
	return func(w http.ResponseWriter, req *http.Request, answer form) {
		if !a.limiter.privileged(req.Header.Get("DiscoveryIdentity-Name")) && a.limiter.over(f, time.Now()) {
			a.counters.rateCandidates.count(false)
			if f == fetchFull {
				a.counters.rateCandidatesFull.count(false)
			}
			if a.settings.RateLimit.Enabled {
				a.counters.rateLimited.count(false)
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		}
		next(w, req, answer)
	}
}
