package registry

import (
	"sync"
	"time"
)

// minute counts events and tells how many there were in the last whole minute
// since it was made (spec 4.1).
type minute struct {
	start time.Time

	mu      sync.Mutex // guards the fields below
	index   int64      // which minute is being counted
	current int
	last    int
}

func newMinute(start time.Time) *minute { return &minute{start: start} }

func (m *minute) add(now time.Time) {
	m.mu.Lock()
	m.turn(now)
	m.current++
	m.mu.Unlock()
}

// lastMinute is 0 during the first one.
func (m *minute) lastMinute(now time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now)
	return m.last
}

func (m *minute) turn(now time.Time) {
	index := int64(now.Sub(m.start) / time.Minute)
	switch index - m.index {
	case 0:
		return
	case 1:
		m.last = m.current
	default:
		m.last = 0
	}
	m.index, m.current = index, 0
}
