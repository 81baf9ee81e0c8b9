package registry

import "sync/atomic"

// counter counts events, and those among them that no peer passed on.
type counter struct{ all, own atomic.Int64 }

func (c *counter) count(replicated bool) {
	c.all.Add(1)
	if !replicated {
		c.own.Add(1)
	}
}

// counters are the original's (spec 4.14).
type counters struct {
	renew, renewNotFound                counter
	cancel, cancelNotFound              counter
	register, expired                   counter
	statusUpdate, statusDelete          counter
	getAll, getDelta, getApp            counter
	rateLimited, rateCandidates         counter
	rateLimitedFull, rateCandidatesFull counter
	denied                              counter
}

// Counters are totals since the start by the original's names. Names with "Replicated"
// count what peers passed on too.
func (r *Registry) Counters() map[string]int64 {
	c := &r.counters
	all := map[string]int64{
		"getAllCounter":                              c.getAll.all.Load(),
		"getAllDeltaCounter":                         c.getDelta.all.Load(),
		"getApplicationCounter":                      c.getApp.all.Load(),
		"expiredCounter":                             c.expired.all.Load(),
		"numOfRateLimitedRequests":                   c.rateLimited.all.Load(),
		"numOfRateLimitedRequestCandidates":          c.rateCandidates.all.Load(),
		"numOfRateLimitedFullFetchRequests":          c.rateLimitedFull.all.Load(),
		"numOfRateLimitedFullFetchRequestCandidates": c.rateCandidatesFull.all.Load(),
		"numOfDeniedRequests":                        c.denied.all.Load(),
	}
	for name, n := range map[string]*counter{
		"renewCounter": &c.renew, "renewNotFoundexpiredCounter": &c.renewNotFound, "cancelCounter": &c.cancel,
		"cancelNotFoundCounter": &c.cancelNotFound, "registerCounter": &c.register,
		"statusUpdateCounter": &c.statusUpdate, "statusOverrideDeleteCounter": &c.statusDelete,
	} {
		all[name], all[name+"-minus-replication"] = n.all.Load(), n.own.Load()
	}
	return all
}
