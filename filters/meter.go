package filters

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// maxErrorKinds bounds the error counters: the cause may come from a filter
// that puts request data into it.
const maxErrorKinds = 256

// Meter counts what filters do. It outlives the chains of single
// configurations, so counts go on across a reload. All methods may be called
// from any goroutine.
type Meter struct {
	// Tunnels counts switched connections.
	Tunnels TunnelCount

	mu      sync.Mutex // guards the maps; counters are found once per load
	filters map[meterKey]*FilterCount
	errors  map[string]*atomic.Int64
}

type meterKey struct {
	phase  Phase
	filter string
}

// FilterCount is how often one filter ended in which status, and how long it
// ran in all.
type FilterCount struct {
	Success, Skipped, Disabled, Failed atomic.Int64
	nanos                              atomic.Int64
}

// Took is the time spent in the filter, over all requests.
func (f *FilterCount) Took() time.Duration { return time.Duration(f.nanos.Load()) }

func (f *FilterCount) add(s Status, took time.Duration) {
	switch s {
	case Success:
		f.Success.Add(1)
	case Skipped:
		f.Skipped.Add(1)
	case Disabled:
		f.Disabled.Add(1)
	case Failed:
		f.Failed.Add(1)
	}
	if took > 0 {
		f.nanos.Add(int64(took))
	}
}

// NewMeter returns a Meter with nothing counted.
func NewMeter() *Meter {
	return &Meter{filters: map[meterKey]*FilterCount{}, errors: map[string]*atomic.Int64{}}
}

// Filter returns the counters of one filter, making them on first use.
func (m *Meter) Filter(phase Phase, name string) *FilterCount {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := meterKey{phase, name}
	if m.filters[key] == nil {
		m.filters[key] = &FilterCount{}
	}
	return m.filters[key]
}

// CountError counts one answered failure under Zuul's counter name
// ZUUL::EXCEPTION:<cause>:<status>. Beyond a few hundred different causes the
// rest is counted under the cause "other".
func (m *Meter) CountError(cause string, status int) {
	m.error(cause, status).Add(1)
}

func (m *Meter) error(cause string, status int) *atomic.Int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := errorCounterName(cause, status)
	if m.errors[name] == nil && len(m.errors) >= maxErrorKinds {
		name = errorCounterName("other", status)
	}
	if m.errors[name] == nil {
		m.errors[name] = &atomic.Int64{}
	}
	return m.errors[name]
}

// Errors returns the failure counters by name.
func (m *Meter) Errors() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[string]int64, len(m.errors))
	for name, n := range m.errors {
		out[name] = n.Load()
	}
	return out
}

func errorCounterName(cause string, status int) string {
	return "ZUUL::EXCEPTION:" + cause + ":" + strconv.Itoa(status)
}
