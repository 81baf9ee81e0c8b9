package lb

import (
	"sync/atomic"
	"time"
)

const (
	startsWindow  = int64(5 * time.Minute)
	failureWindow = int64(time.Second)
)

// rate counts events in windows of fixed length that follow each other from the first
// event on: those of the current window and of the last one that is over. An event
// that falls into the change of windows may be counted in either.
type rate struct {
	began   atomic.Int64 // unix nanoseconds; 0 before the first event
	count   atomic.Int64
	counted atomic.Int64 // in the window before
}

func (r *rate) add(now, length int64) {
	r.roll(now, length)
	r.count.Add(1)
}

func (r *rate) current(now, length int64) int64 {
	r.roll(now, length)
	return r.count.Load()
}

func (r *rate) last(now, length int64) int64 {
	r.roll(now, length)
	return r.counted.Load()
}

// roll begins the window of now. What was counted is the last window's only if none lies
// between them.
func (r *rate) roll(now, length int64) {
	began := r.began.Load()
	if now-began <= length {
		return
	}
	next := now
	if began != 0 {
		next = began + (now-began-1)/length*length
	}
	if !r.began.CompareAndSwap(began, next) {
		return
	}
	n := r.count.Swap(0)
	if next-began > length {
		n = 0
	}
	r.counted.Store(n)
}
