package http1

import (
	"runtime"
	"sync/atomic"
)

// perProcessor is how many requests a processor must have in hand for a server
// to be crowded.
const perProcessor = 4

// crowd tells whether so many requests are being handled that they had better
// write one after the other. Then a goroutine that is about to write lets
// those go first that still compute: the peers are woken once for many
// messages, not once for each. A wake-up costs about as much as a write.
type crowd struct{ atomic.Bool }

// judge is called with the number of requests in hand, now and then.
func (c *crowd) judge(requests int) {
	c.Store(requests > perProcessor*runtime.GOMAXPROCS(0))
}

// giveWay lets other goroutines run first if there are many.
func (c *crowd) giveWay() {
	if c.Load() {
		runtime.Gosched()
	}
}

// giveWay is that of the server that the request comes from.
func (d *downstream) giveWay() {
	if d != nil && d.crowd != nil {
		d.crowd.giveWay()
	}
}
