package gozer_test

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// eventually asks again and again until ok says yes.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	tick, late := time.NewTicker(2*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			tb.Fatalf("waited in vain: %s", what)
		}
	}
}

// heap is what is in use after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools have let go
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// C201: each reload brings a service of its own, other connections for one that stays, and a bad
// configuration; each new one serves a request. Nothing of that is left when it has gone.
func TestReloadsLeaveNothingBehind(t *testing.T) {
	reloads, warm := 150, 50
	if os.Getenv("SOAK") != "" { // make soak
		reloads = 3000
	}
	upstream := backendtest.Start(t, says("x"))
	yaml := func(i int) string {
		return patient + fmt.Sprintf("zuul.routes.s%[1]d: /s%[1]d/**\ns%[1]d.ribbon.listOfServers: %[2]s\nzuul.routes.users: /users/**\n"+
			"users.ribbon: {listOfServers: \"%[2]s\", ReadTimeout: %[3]d}\nzuul.routes.url: {path: /url/**, url: \"http://%[2]s\"}\nzuul.host.socket-timeout-millis: %[3]d\n",
			i, upstream.Addr, 50_000+i%7)
	}
	p := &place{network: memhttp.NewNetwork()}
	g := newGateway(t, yaml(0), p.listen())
	run(t, g)
	eventually(t, "the gateway runs", func() bool { return get(t, g.Management(), "/actuator/health/readiness").Code == http.StatusOK })
	turn := func(i int) {
		if err := g.Reload(parse(t, strings.ReplaceAll(yaml(i), "users", "bad")+"gateway.filters.Nobody.x: 1\n")); err == nil {
			t.Fatal("accepted")
		}
		reload(t, g, yaml(i))
		for _, path := range []string{fmt.Sprintf("/s%d/1", i), "/users/1", "/url/1"} {
			wantAnswer(t, get(t, g, path), http.StatusOK, "x")
		}
	}
	for i := range warm {
		turn(i)
	}
	settle := func() {
		eventually(t, "the circuits of old services go", func() bool { return len(g.Commands().Snapshots()) <= 3 })
	}
	settle()
	goroutines, before := runtime.NumGoroutine(), heap()
	for i := range reloads - warm {
		turn(warm + i)
	}
	settle()
	eventually(t, fmt.Sprintf("there are hardly more than %d goroutines", goroutines), func() bool { return runtime.NumGoroutine() <= goroutines+20 })
	grown := heap() - before
	t.Logf("%d reloads: heap %d KB, grown by %d KB", reloads, before>>10, grown>>10)
	if grown > 4<<20 {
		t.Errorf("the heap has grown by %d KB over %d reloads", grown>>10, reloads-warm)
	}
}
