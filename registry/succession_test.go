package registry_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/registry"
)

// heir is a registry whose only peer cannot be reached.
func heir(t *testing.T) *registry.Registry {
	t.Helper()
	s := registry.DefaultSettings()
	s.Transport, s.Logger = memhttp.NewNetwork().Transport(t), slog.New(slog.DiscardHandler)
	s.Peers = []string{"http://nobody.test:8761/eureka/"}
	r, err := registry.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What goes over is listed at once, though no peer confirms it, with its overrides, and for the
// whole time of its lease.
func TestSuccession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := start(t)
		a, b := instance("a", "h:1", lasting(40*time.Second), func(i *eureka.Instance) { i.Metadata = map[string]string{"zone": "z"} }), instance("b", "h:2")
		before.register(a)
		before.register(b)
		before.want(http.StatusOK, http.MethodPut, "/eureka/apps/B/h:2/status?value=OUT_OF_SERVICE", "")
		pass(30 * time.Second)
		var list bytes.Buffer
		if err := before.Export(&list); err != nil {
			t.Fatal(err)
		}
		next := heir(t)
		if n, err := next.Import(&list); n != 2 || err != nil {
			t.Fatalf("%d instances, %v", n, err)
		}
		go next.Run(t.Context())
		synctest.Wait()
		select {
		case <-next.Ready():
		default:
			t.Error("it waits for peers")
		}
		if diff := cmp.Diff([]string{"A/h:1 UP", "B/h:2 OUT_OF_SERVICE"}, ids(next.Applications())); diff != "" {
			t.Error(diff)
		}
		if !next.Status().Leases.Serving || next.Applications().Applications[0].Instances[0].Metadata["zone"] != "z" {
			t.Error("it does not serve what it has got")
		}
		pass(39 * time.Second)
		if n := next.Status().Leases.Expired; n > 0 {
			t.Errorf("%d leases have run out", n)
		}
	})
}

func TestSuccessionCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, next := start(t), heir(t)
		before.register(instance("a", "h:1"))
		var list bytes.Buffer
		if err := before.Export(&list); err != nil {
			t.Fatal(err)
		}
		if n, err := next.Import(strings.NewReader(list.String()[:list.Len()-20])); n > 0 || err == nil {
			t.Errorf("%d instances, %v", n, err)
		}
		go next.Run(t.Context())
		synctest.Wait()
		if next.Status().Leases.Serving {
			t.Error("it serves a partial list")
		}
	})
}

func TestEndOfPushing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		l := n.listen(t)
		l.next("sync")
		n.EndPush()
		if e, open := <-l.events; open {
			t.Errorf("an event %q", e.name)
		}
		if again := n.listen(t); again.status != http.StatusServiceUnavailable {
			t.Errorf("another stream begins with %d", again.status)
		}
	})
}
