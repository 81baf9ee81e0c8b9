package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// States of a connection, as the kernel writes them.
const (
	closeWait = "08" // the other side has closed, this one has not
	listens   = "0A"
)

// allowedGrowth is how many sockets or goroutines more than before are no leak yet.
const allowedGrowth = 5

// sockets counts the gateway's TCP connections by state. A socket that nobody holds any
// more is not among them, nor are listeners.
func (g *gateway) sockets() map[string]int {
	g.tb.Helper()
	if runtime.GOOS != "linux" {
		g.tb.Skip("reads /proc")
	}
	held := g.inodes()
	states := map[string]int{}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(g.proc("net", table))
		if err != nil {
			continue // a system without IPv6
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] != listens && held[f[9]] {
				states[f[3]]++
			}
		}
	}
	return states
}

// inodes names the sockets that the process holds.
func (g *gateway) inodes() map[string]bool {
	g.tb.Helper()
	entries, err := os.ReadDir(g.proc("fd"))
	if err != nil {
		g.tb.Fatal(err)
	}
	held := map[string]bool{}
	for _, e := range entries {
		link, _ := os.Readlink(g.proc("fd", e.Name())) // it may be closed by now
		if inode, ok := strings.CutPrefix(link, "socket:["); ok {
			held[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return held
}

func (g *gateway) proc(path ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(g.cmd.Process.Pid)}, path...)...)
}

// connections is the number of sockets in all states.
func (g *gateway) connections() int {
	g.tb.Helper()
	n := 0
	for _, count := range g.sockets() {
		n += count
	}
	return n
}

// wantConnections waits until no more connections than so many, and a few, are left.
func (g *gateway) wantConnections(before int) {
	g.tb.Helper()
	eventually(g.tb, "the connections go back to "+strconv.Itoa(before), func() bool {
		return g.connections() <= before+allowedGrowth
	})
}

// wantNoClients waits until the gateway has no connection of a client, by its own books, so
// that as many as its limits allow may come.
func (g *gateway) wantNoClients() {
	g.tb.Helper()
	g.wantMetric("gozer_connections_open 0")
}

// wantNoLeak waits until the gateway holds no connections, and no more goroutines than an idle
// one with the same configuration.
func (g *gateway) wantNoLeak(yaml string) {
	g.tb.Helper()
	g.wantConnections(0)
	fresh := start{yaml: yaml}.ready(g.tb)
	var left, least int
	if !soon(func() bool {
		left, least = g.goroutines(), fresh.goroutines()
		return left <= least+allowedGrowth
	}) {
		g.tb.Errorf("%d goroutines are left, %d are there at the start:\n%s", left, least, g.creators())
	}
}

var goroutines = regexp.MustCompile(`(?m)^go_goroutines (\d+)$`)

// goroutines is how many there are, by the gateway's own metrics.
func (g *gateway) goroutines() int {
	g.tb.Helper()
	a, err := g.tryGet(g.AdminURL("/actuator/prometheus"))
	if err != nil {
		g.tb.Fatal(err)
	}
	found := goroutines.FindStringSubmatch(a.Body)
	if found == nil {
		g.tb.Fatalf("the metrics do not tell how many goroutines there are:\n%s", a.Body)
	}
	n, _ := strconv.Atoi(found[1]) // digits
	return n
}

var creator = regexp.MustCompile(`(?m)^created by (\S+)`)

// creators ends the process, which then lists its goroutines, and returns who started how many.
func (g *gateway) creators() string {
	g.tb.Helper()
	g.Signal(syscall.SIGQUIT)
	g.ExitCode()
	counts := map[string]int{}
	for _, found := range creator.FindAllStringSubmatch(g.Log.String(), -1) {
		counts[found[1]]++
	}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&list, "%4d %s\n", counts[name], name)
	}
	return list.String()
}

// onNative reports that the gateway's own engine is tested.
func onNative() bool { return os.Getenv(engineVariable) != "nethttp" }

// together makes so many calls at once and counts their statuses; 0 is an error.
func (g *gateway) together(calls int, target string) map[int]int {
	g.tb.Helper()
	statuses := make(chan int, calls)
	for range calls {
		go func() {
			a, err := send(g.tb.Context(), http.MethodGet, g.URL(target), nil, nil)
			if err != nil {
				a = &answer{}
			}
			statuses <- a.Status
		}()
	}
	counts := map[int]int{}
	for range calls {
		counts[receive(g.tb, "an answer", statuses)]++
	}
	return counts
}
