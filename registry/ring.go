package registry

// ring keeps the last few values that were added to it.
type ring[T any] struct {
	values []T // a circle once it is full
	start  int // index of the oldest
	most   int
}

func newRing[T any](most int) *ring[T] { return &ring[T]{most: most} }

// add drops the oldest value when there is no room.
func (r *ring[T]) add(v T) {
	if len(r.values) < r.most {
		r.values = append(r.values, v)
		return
	}
	r.values[r.start] = v
	r.start = (r.start + 1) % r.most
}

// newest lists up to n values, the last added first.
func (r *ring[T]) newest(n int) []T {
	all := len(r.values)
	list := make([]T, 0, min(n, all))
	for i := all - 1; i >= 0 && len(list) < n; i-- {
		list = append(list, r.values[(r.start+i)%all])
	}
	return list
}
