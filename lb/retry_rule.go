package lb

import "time"

// DefaultPatience is how long Retry waits for a server, as Ribbon's RetryRule does.
const DefaultPatience = 500 * time.Millisecond

// Retry waits for a server when its sub-rule finds none, since one may be about to come
// back. Only the requests that find none wait.
type Retry struct {
	// Rule is the sub-rule. It is required.
	Rule Rule
	// Patience is the longest wait; 0 or less means DefaultPatience.
	Patience time.Duration
}

var _ Rule = (*Retry)(nil)

// Picker implements Rule with the picker of the sub-rule; the waiting is the balancer's,
// which alone knows when its servers change.
func (r *Retry) Picker(c *Candidates) Picker { return r.Rule.Picker(c) }

func (r *Retry) patience() time.Duration {
	if r.Patience <= 0 {
		return DefaultPatience
	}
	return r.Patience
}

// renews forwards what the sub-rule needs.
func (r *Retry) renews() bool { return renews(r.Rule) }

// patience is how long a request waits under a rule when there is no server.
func patience(r Rule) time.Duration {
	if patient, ok := r.(interface{ patience() time.Duration }); ok {
		return patient.patience()
	}
	return 0
}

// renews reports that what a rule prepares becomes old by itself.
func renews(r Rule) bool {
	renewing, ok := r.(interface{ renews() bool })
	return ok && renewing.renews()
}
