package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is the tables in Markdown. A run with another server has the same columns.
func report(o options, l *load, filled time.Duration, before, after usage) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%d instances in %d applications renewing every %v, %d clients polling deltas every %v, %d reading everything every %v, a change every %v; %v measured, %d cores.\n\n",
		o.instances, o.apps, o.renew, o.pollers, o.poll, o.readers, o.read, o.change, o.duration, runtime.NumCPU())
	fmt.Fprintf(&w, "| server | CPU of one core | RSS | peak RSS | filled in |\n|---|---|---|---|---|\n")
	fmt.Fprintf(&w, "| %s | %.1f %% | %d MiB | %d MiB | %v |\n\n", o.name,
		100*(after.cpu-before.cpu).Seconds()/o.duration.Seconds(), after.rss>>10, after.peak>>10, filled.Round(time.Millisecond))
	fmt.Fprintf(&w, "| call | count | per second | p50 | p99 | max | body | failed |\n|---|---|---|---|---|---|---|---|\n")
	for _, kind := range kinds() {
		c := l.calls[kind]
		took := slices.Sorted(slices.Values(c.took))
		if len(took) == 0 {
			continue
		}
		over := o.duration
		if kind == registering {
			over = filled
		}
		fmt.Fprintf(&w, "| %s | %d | %.0f | %v | %v | %v | %d KiB | %d |\n", kind, len(took), float64(len(took))/over.Seconds(),
			at(took, 0.50), at(took, 0.99), at(took, 1), c.bytes/int64(len(took))>>10, c.failed)
	}
	return w.String()
}

func at(sorted []time.Duration, share float64) time.Duration {
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))].Round(10 * time.Microsecond)
}
