package ribboncmd

import "fmt"

// Override is what an operator has decided about a circuit at run time. It wins
// over the force settings, and over a breaker that is not enabled, until it is
// taken back or the process ends.
type Override int32

// The overrides.
const (
	NotForced    Override = iota // the settings decide
	ForcedOpen                   // every call is refused
	ForcedClosed                 // every call passes
)

// String returns NONE, FORCED_OPEN or FORCED_CLOSED.
func (o Override) String() string {
	switch o {
	case NotForced:
		return "NONE"
	case ForcedOpen:
		return "FORCED_OPEN"
	case ForcedClosed:
		return "FORCED_CLOSED"
	}
	return fmt.Sprintf("Override(%d)", int32(o))
}

// MarshalText gives the override's name in JSON.
func (o Override) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// force is what holds at the moment: forceOpen beats forceClosed.
func (b *breaker) force(s *BreakerSettings) Override {
	if o := Override(b.override.Load()); o != NotForced {
		return o
	}
	switch {
	case !s.Enabled:
	case s.ForceOpen:
		return ForcedOpen
	case s.ForceClosed:
		return ForcedClosed
	}
	return NotForced
}

// isOpen is Hystrix's view of a circuit: force first, half-open is open.
func (b *breaker) isOpen(s *BreakerSettings) bool {
	switch b.force(s) {
	case ForcedOpen:
		return true
	case ForcedClosed:
		return false
	case NotForced:
	}
	return s.Enabled && b.current() != Closed
}

// reset closes the circuit, forgets its health and whatever was forced. A trial
// that is under way has nothing to say any more.
func (b *breaker) reset() {
	b.override.Store(int32(NotForced))
	b.mu.Lock()
	defer b.unlock()
	b.trial = trial{}
	b.machine = b.newMachine()
	if from := b.current(); from != Closed {
		b.move(from, Closed)
		return
	}
	b.health.Reset()
}

// Force puts an override on the circuit of a command key, NotForced takes it
// back. It returns false if no command of that key has executed lately.
func (c *Commands) Force(key string, o Override) bool {
	s := c.find(key)
	if s == nil {
		return false
	}
	s.breaker.override.Store(int32(o))
	return true
}

// Reset closes the circuit of a command key, empties the window that it is judged
// by and takes back what was forced. It returns false if no command of that key
// has executed lately.
func (c *Commands) Reset(key string) bool {
	s := c.find(key)
	if s == nil {
		return false
	}
	s.breaker.reset()
	return true
}

func (c *Commands) find(key string) *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states[key]
}
