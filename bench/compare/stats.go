//go:build linux

package main

import (
	"math"
	"slices"
	"time"
)

// latency is a distribution's quantiles.
type latency struct{ p50, p99, p999 time.Duration }

// summarise puts the clients' observations together.
func summarise(took [][]time.Duration, failed []int, elapsed time.Duration) outcome {
	all := slices.Concat(took...)
	slices.Sort(all)
	var o outcome
	for _, n := range failed {
		o.failed += n
	}
	o.requests = len(all)
	o.rate = float64(len(all)) / elapsed.Seconds()
	o.latency = latency{p50: quantile(all, 0.5), p99: quantile(all, 0.99), p999: quantile(all, 0.999)}
	return o
}

// quantile returns the smallest value that at least the share q of all do not
// exceed; 0 if there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(0, rank)]
}

// median of what of returns for each element: the mean of the middle two when
// there is no middle, 0 when there is nothing.
func median[T any, N ~int | ~int64 | ~float64](all []T, of func(T) N) N {
	var values []N
	for _, v := range all {
		values = append(values, of(v))
	}
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return 0
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}
