package ribboncmd

import "time"

// DefaultPoolKey is the pool that commands share unless told otherwise: that of
// Zuul's command group.
const DefaultPoolKey = DefaultGroup

// PoolSettings of Thread isolation. Commands with one Key share one pool; each
// call applies its command's sizes to it, so they had better agree.
type PoolSettings struct {
	Key         string // "" means DefaultPoolKey
	CoreSize    int
	MaximumSize int // used only if it may diverge and there is no queue

	AllowMaximumSizeToDivergeFromCoreSize bool

	MaxQueueSize                int // zero or less: no queue
	QueueSizeRejectionThreshold int // with a queue: never more waiting calls than this

	Window  time.Duration // stretch of the counters; zero means 10 s
	Buckets int           // of that; zero means 10
}

// DefaultPoolSettings are Hystrix's: ten calls at once, no queue.
func DefaultPoolSettings() PoolSettings {
	return PoolSettings{
		Key: DefaultPoolKey, CoreSize: 10, MaximumSize: 10, MaxQueueSize: -1, QueueSizeRejectionThreshold: 5,
		Window: defaultWindow, Buckets: defaultBuckets,
	}
}

// Workers is how many calls run at once. With a queue it is the core size:
// the original would grow beyond it only once the queue is full.
func (p PoolSettings) Workers() int {
	if p.MaxQueueSize > 0 || !p.AllowMaximumSizeToDivergeFromCoreSize {
		return p.CoreSize
	}
	return max(p.CoreSize, p.MaximumSize)
}

// Places is how many calls may wait.
func (p PoolSettings) Places() int {
	return max(0, min(p.MaxQueueSize, p.QueueSizeRejectionThreshold))
}
