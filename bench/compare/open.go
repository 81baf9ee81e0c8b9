//go:build linux

package main

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// openLoop sends at a fixed rate whether or not earlier requests have been
// answered, and counts each one's latency from when it was due. So a proxy that
// stalls pays for all who would have come meanwhile; a closed loop would wait with
// it and forget them (coordinated omission). pause sleeps.
func openLoop(ctx context.Context, addr string, r request, conns int, rate float64, span time.Duration, pause func(time.Duration)) (outcome, error) {
	clients, err := dialMany(ctx, addr, conns, r)
	defer closeAll(clients)
	if err != nil {
		return outcome{}, err
	}
	var (
		total   = int(rate * span.Seconds())
		due     = make(chan time.Time, total) // never blocks the schedule
		workers sync.WaitGroup
		took    = make([][]time.Duration, conns)
		failed  = make([]int, conns)
		began   = time.Now()
	)
	for i, c := range clients {
		workers.Go(func() {
			for at := range due {
				if ctx.Err() != nil || c.exchange(r) != nil {
					failed[i]++
					continue
				}
				took[i] = append(took[i], time.Since(at))
			}
		})
	}
	schedule(ctx, due, began, rate, pause)
	workers.Wait()
	return summarise(took, failed, time.Since(began)), ctx.Err()
}

// schedule fills due with the moments at which requests are to be sent, each when
// it has come.
func schedule(ctx context.Context, due chan<- time.Time, began time.Time, rate float64, pause func(time.Duration)) {
	defer close(due)
	for i := range cap(due) {
		at := began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if wait := time.Until(at); wait > 0 {
			runtime.Gosched() // let what is due be sent first
			pause(wait)
		}
		if ctx.Err() != nil {
			return
		}
		due <- at
	}
}

// nap sleeps in the kernel: the timers of an idle Go program have a grain of a
// millisecond.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil) // woken early, the next request is early by as much
}
