//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// outcome is what the clients of one measurement saw.
type outcome struct {
	requests int
	rate     float64 // requests per second
	failed   int     // not answered, or not with 200
	latency  latency
}

// closedLoop keeps conns connections busy: each sends its next request when the
// last one has been answered. That finds the proxy's limit, and says little about
// latency. wrk costs the shared core the least; without it our own clients do.
func (l *lab) closedLoop(ctx context.Context, addr string, r request, conns int, span time.Duration) (outcome, error) {
	if _, err := exec.LookPath("wrk"); err != nil {
		return ownLoop(ctx, addr, r, conns, span)
	}
	args := []string{"-t1", fmt.Sprintf("-c%d", conns), fmt.Sprintf("-d%.0fs", max(1, span.Seconds())), "--timeout", "10s", "--latency"}
	if r.post > 0 {
		script := filepath.Join(l.dir, "post.lua")
		text := fmt.Sprintf("wrk.method = \"POST\"\nwrk.body = string.rep(\"x\", %d)\n", r.post)
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			return outcome{}, err
		}
		args = append(args, "-s", script)
	}
	out, err := exec.CommandContext(ctx, "wrk", append(args, "http://"+addr+r.path)...).CombinedOutput()
	if err != nil {
		return outcome{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	return readWrk(string(out))
}

// readWrk reads the report of wrk --latency.
func readWrk(text string) (outcome, error) {
	number := func(pattern string) float64 {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			return 0
		}
		n, _ := strconv.ParseFloat(m[1], 64)
		return n
	}
	quantile := func(percent string) time.Duration {
		m := regexp.MustCompile(`(?m)^\s+` + percent + `%\s+(\S+)\s*$`).FindStringSubmatch(text)
		if m == nil {
			return 0
		}
		d, _ := time.ParseDuration(m[1])
		return d
	}
	o := outcome{
		requests: int(number(`(\d+) requests in`)),
		rate:     number(`Requests/sec:\s+([\d.]+)`),
		failed:   int(number(`Non-2xx[^:]*: (\d+)`)),
		latency:  latency{p50: quantile("50"), p99: quantile("99")},
	}
	for _, kind := range []string{"connect", "read", "write", "timeout"} {
		o.failed += int(number(`Socket errors:.*` + kind + ` (\d+)`))
	}
	if o.requests == 0 {
		return o, errors.New("wrk got no answer: " + text)
	}
	return o, nil
}

// ownLoop is closedLoop without wrk. However short the span, each client sends a request.
func ownLoop(ctx context.Context, addr string, r request, conns int, span time.Duration) (outcome, error) {
	clients, err := dialMany(ctx, addr, conns, r)
	defer closeAll(clients)
	if err != nil {
		return outcome{}, err
	}
	var (
		workers sync.WaitGroup
		took    = make([][]time.Duration, conns)
		failed  = make([]int, conns)
		began   = time.Now()
		end     = began.Add(span)
	)
	for i, c := range clients {
		workers.Go(func() {
			for now, more := time.Now(), true; more; more = now.Before(end) && ctx.Err() == nil {
				if c.exchange(r) != nil {
					failed[i]++
					return
				}
				done := time.Now()
				took[i] = append(took[i], done.Sub(now))
				now = done
			}
		})
	}
	workers.Wait()
	return summarise(took, failed, time.Since(began)), ctx.Err()
}
