package registry

import "time"

// What tests of the parts use.

type Ring = ring[int]

func NewRing(most int) *Ring        { return newRing[int](most) }
func (r *ring[T]) Add(v T)          { r.add(v) }
func (r *ring[T]) Newest(n int) []T { return r.newest(n) }

type Delay struct{ delay }

func (d *Delay) Late(now time.Time, interval time.Duration) time.Duration {
	return d.late(now, interval)
}

type Bucket = bucket

func NewBucket(burst, rate int, unit time.Duration) *Bucket { return newBucket(burst, rate, unit) }
func (b *bucket) Acquire(now time.Time) bool                { return b.acquire(now) }

func Threshold(expected int, interval time.Duration, percent float64) int {
	return threshold(expected, interval, percent)
}

func EvictionLimit(size int, percent float64) int { return evictionLimit(size, percent) }

// Recount runs the task of renewal-threshold-update-interval-ms now.
func (r *Registry) Recount() { r.recount() }

// PeerNames lists the peers with something that tells one peer from its successor.
func (r *Registry) PeerNames() map[string]any {
	all := map[string]any{}
	for _, p := range r.peers.current() {
		all[p.name] = p
	}
	return all
}
