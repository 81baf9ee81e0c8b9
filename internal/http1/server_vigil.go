package http1

import "sync/atomic"

// phase is what one direction of a client's connection waits for.
type phase uint8

const (
	phaseNone    phase = iota
	phaseNew           // the first byte on a new connection
	phaseIdle          // the first byte of a further request
	phaseWake          // as phaseIdle, but the connection is told to doze
	phaseDoze          // as phaseIdle, while dozing
	phaseHead          // the rest of a head
	phaseBody          // more of a body
	phaseUnread        // the handler, which has not read the whole body
	phaseHandler       // the handler
	phaseLinger        // the client to close after the last response
	phaseWrite         // the client to take what is sent
	phaseMove          // the client or the upstream, whose body moves from socket to socket
	phaseExpired       // nothing any more: it took too long
)

// vigil tells the sweeper what one direction of a connection waits for, and
// until which tick of the server's clock. It takes the place of a timer per
// wait. Only the sweeper lets it expire, and nothing wakes it up from there.
type vigil struct{ state atomic.Uint64 }

const phaseShift = 56

func vigilState(p phase, until uint64) uint64 { return uint64(p)<<phaseShift | until }

func unpackVigil(state uint64) (p phase, until uint64) {
	return phase(state >> phaseShift), state & (1<<phaseShift - 1)
}

// keep starts a wait; until 0 is a wait without end. It returns false if an
// earlier one has expired.
func (v *vigil) keep(p phase, until uint64) bool {
	return v.pass(p, until) != phaseExpired
}

// pass is keep for those who want to know which wait it is that ends.
func (v *vigil) pass(p phase, until uint64) (old phase) {
	old, _ = unpackVigil(v.state.Swap(vigilState(p, until)))
	if old == phaseExpired {
		v.state.Store(vigilState(phaseExpired, 1))
	}
	return old
}

// rest ends a wait. It returns false if the wait, or an earlier one, has
// expired.
func (v *vigil) rest() bool { return v.keep(phaseNone, 0) }

func (v *vigil) expired() bool {
	return v.state.Load()>>phaseShift == uint64(phaseExpired)
}

// due returns the state of a wait that is over by now.
func (v *vigil) due(now uint64) (state uint64, due bool) {
	state = v.state.Load()
	until := state & (1<<phaseShift - 1)
	return state, until != 0 && until <= now
}

// replace puts another wait in the place of the one with state, which may be
// over already; then nothing happens.
func (v *vigil) replace(state uint64, p phase, until uint64) bool {
	return v.state.CompareAndSwap(state, vigilState(p, until))
}
