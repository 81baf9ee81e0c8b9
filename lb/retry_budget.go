package lb

import (
	"sync/atomic"
	"time"
)

// BudgetSettings bound the retries of a service.
type BudgetSettings struct {
	// Percent is how many retries 100 requests allow.
	Percent int
	// PerSecond retries are allowed however little traffic there is.
	PerSecond int
	// Burst is how many retries may be saved up in good times.
	Burst int
	// Off lifts every bound.
	Off bool
}

// DefaultBudgetSettings allow one retry for five requests, or ten a second, and a
// hundred at once after good times.
func DefaultBudgetSettings() BudgetSettings {
	return BudgetSettings{Percent: 20, PerSecond: 10, Burst: 100}
}

// RetryBudget keeps retries from becoming a storm when many servers fail at once. It is
// a bucket of retries: every request puts a share of one in, every retry takes one out.
// In any stretch of time there are at most
//
//	Burst + PerSecond * (seconds + 1) + requests * Percent / 100
//
// retries. The bucket begins full. The methods take no lock and may be called from any
// number of goroutines; while the bucket is full, a request only reads. Make it with
// NewRetryBudget.
type RetryBudget struct {
	settings atomic.Pointer[BudgetSettings]
	balance  atomic.Int64 // hundredths of a retry
	most     atomic.Int64 // of that
	minimum  atomic.Int64 // unix nanoseconds up to which the allowance of PerSecond is used up
	granted  atomic.Int64
	denied   atomic.Int64
}

// one retry in the units of the balance: a request puts Percent of them in.
const one = 100

// NewRetryBudget makes a full bucket.
func NewRetryBudget(s BudgetSettings) *RetryBudget {
	b := new(RetryBudget)
	b.Configure(s)
	b.balance.Store(b.most.Load())
	return b
}

// Configure replaces the settings. What is saved up stays, up to the new Burst.
func (b *RetryBudget) Configure(s BudgetSettings) {
	b.settings.Store(&s)
	b.most.Store(int64(s.Burst) * one)
	b.add(0)
}

// Granted counts the retries that were allowed.
func (b *RetryBudget) Granted() int64 { return b.granted.Load() }

// Denied counts the retries that were not.
func (b *RetryBudget) Denied() int64 { return b.denied.Load() }

// deposit is for every request, when it begins. A nil budget has no bounds.
func (b *RetryBudget) deposit() {
	if b != nil && b.balance.Load() < b.most.Load() {
		b.add(int64(b.settings.Load().Percent))
	}
}

// add changes the balance, which never grows beyond the burst.
func (b *RetryBudget) add(n int64) {
	for {
		old := b.balance.Load()
		if b.balance.CompareAndSwap(old, min(old+n, b.most.Load())) {
			return
		}
	}
}

// withdraw reports that a retry may begin.
func (b *RetryBudget) withdraw(now time.Time) bool {
	if b == nil {
		return true
	}
	s := b.settings.Load()
	if s.Off || b.take() || b.takeMinimum(s.PerSecond, now.UnixNano()) {
		b.granted.Add(1)
		return true
	}
	b.denied.Add(1)
	return false
}

// refund takes back a withdrawal whose retry did not come about.
func (b *RetryBudget) refund() {
	if b != nil {
		b.granted.Add(-1)
		b.add(one)
	}
}

func (b *RetryBudget) take() bool {
	for {
		old := b.balance.Load()
		if old < one {
			return false
		}
		if b.balance.CompareAndSwap(old, old-one) {
			return true
		}
	}
}

// takeMinimum allows perSecond retries in each second, by the generic cell rate algorithm
// (ITU-T I.371, annex A) with a tolerance of one second.
func (b *RetryBudget) takeMinimum(perSecond int, now int64) bool {
	if perSecond <= 0 {
		return false
	}
	interval := int64(time.Second) / int64(perSecond)
	for {
		used := b.minimum.Load()
		from := max(used, now)
		if from+interval > now+int64(time.Second) {
			return false
		}
		if b.minimum.CompareAndSwap(used, from+interval) {
			return true
		}
	}
}
