package registry_test

import (
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

func TestHash(t *testing.T) {
	t.Run("eureka 51 counts by status", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			if got := n.list("/eureka/apps"); got.HashCode != "" || got.VersionsDelta != 1 {
				t.Errorf("empty: %q, version %d", got.HashCode, got.VersionsDelta)
			}
			n.fleet("a", 2)
			n.register(instance("b", "h:1", status(eureka.Down)))
			for _, path := range []string{"/eureka/apps", "/eureka/apps/delta"} {
				if got := n.list(path); got.HashCode != "DOWN_1_UP_2_" {
					t.Errorf("%s: %q", path, got.HashCode)
				}
			}
		})
	})
}

func TestDelta(t *testing.T) {
	t.Run("eureka 52 an instance is in it once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1")
			n.register(i)
			n.set(i, eureka.Down)
			n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "")
			got := n.list("/eureka/apps/delta")
			if diff := cmp.Diff([]string{"A/h:1 DELETED"}, actions(got)); diff != "" || got.HashCode != "" {
				t.Error(diff, got.HashCode)
			}
			if last := got.Applications[0].Instances[0]; !last.Lease.Evicted.Equal(time.Now()) || last.Status != eureka.Down {
				t.Errorf("%+v", last)
			}
			pass(179 * time.Second)
			if got := n.list("/eureka/apps/delta"); got.Len() != 1 {
				t.Error("it is gone too early")
			}
			pass(32 * time.Second)
			if got := n.list("/eureka/apps/delta"); got.Len() != 0 {
				t.Error("it is still there")
			}
		})
	})
	t.Run("each delta that is made has a number of its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			var versions []int64
			for k := range 3 {
				n.register(instance("a", "h:1", dirty(int64(k))))
				versions = append(versions, n.list("/eureka/apps/delta").VersionsDelta)
				n.list("/eureka/apps/delta")
			}
			if diff := cmp.Diff([]int64{1, 2, 3}, versions); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("it can be switched off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Cache.DisableDelta = true })
			n.want(403, http.MethodGet, "/eureka/apps/delta", "")
		})
	})
	t.Run("renewing is no change", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1")
			n.register(i)
			pass(4 * time.Minute)
			n.beat(i)
			if got := n.list("/eureka/apps/delta"); got.Len() != 0 {
				t.Errorf("%q", actions(got))
			}
		})
	})
}

func TestCache(t *testing.T) {
	paths := []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/A", "/eureka/vips/a"}
	t.Run("eureka 57 a change is seen at once without the read-only cache", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			for _, path := range paths {
				n.do(http.MethodGet, path, "", asJSON)
			}
			n.register(instance("a", "h:1", func(i *eureka.Instance) { i.VIPAddress = "a,b" }))
			for _, path := range paths {
				for _, f := range []string{"X-Eureka-Accept: full", askCompact} {
					if got := n.do(http.MethodGet, path, "", asJSON, f); !strings.Contains(got.body, "h:1") {
						t.Errorf("%s: %s", path, got.body)
					}
				}
			}
			n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "")
			n.want(404, http.MethodGet, "/eureka/apps/A", "", asJSON)
			n.want(404, http.MethodGet, "/eureka/apps/A", "", asJSON, askCompact)
			if got := n.list("/eureka/vips/b"); got.Len() != 0 {
				t.Error("the vip is still there")
			}
		})
	})
	t.Run("with it, at the next multiple of the interval", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Cache.ReadOnly = true })
			pass(time.Until(time.Now().Truncate(30 * time.Second).Add(45 * time.Second)))
			n.want(404, http.MethodGet, "/eureka/apps/A", "", asJSON)
			n.list("/eureka/apps")
			n.register(instance("a", "h:1"))
			n.want(404, http.MethodGet, "/eureka/apps/A", "", asJSON)
			if n.list("/eureka/apps").Len() != 0 || n.list("/eureka/apps", "Cache-Control: no-cache").Len() != 1 {
				t.Error("fresh only for those who insist")
			}
			pass(14 * time.Second)
			n.want(404, http.MethodGet, "/eureka/apps/A", "", asJSON)
			pass(2 * time.Second)
			n.want(200, http.MethodGet, "/eureka/apps/A", "", asJSON)
			if n.list("/eureka/apps").Len() != 1 {
				t.Error("not refreshed")
			}
		})
	})
	t.Run("C198 equal bytes for an equal version", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.fleet("b", 20)
			n.fleet("a", 20)
			first := n.do(http.MethodGet, "/eureka/apps", "", asJSON).body
			for range 3 {
				pass(time.Second)
				n.fleetBeat("a", 20)
				if got := n.do(http.MethodGet, "/eureka/apps", "", asJSON).body; got != first {
					t.Error("differs without a change")
				}
			}
		})
	})
	t.Run("it holds a bounded number of answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Cache.MaxEntries = 10 })
			n.fleet("a", 1)
			for k := range 50 {
				n.want(404, http.MethodGet, "/eureka/apps/NONE"+strings.Repeat("X", k), "", asJSON)
				n.want(200, http.MethodGet, "/eureka/apps?regions=none"+strings.Repeat("x", k), "", asJSON)
			}
			n.want(200, http.MethodGet, "/eureka/apps/A", "", asJSON)
			if got := n.Status().Answers; got > 11 {
				t.Errorf("%d answers", got)
			}
			pass(61 * time.Second)
			if got := n.Status().Answers; got != 0 {
				t.Errorf("%d answers that nobody asks for", got)
			}
		})
	})
}

// remote is a registry "east" and one that shows it.
func remote(t *testing.T, change ...func(*registry.Settings)) (east, west *node) {
	t.Helper()
	network := memhttp.NewNetwork()
	east = startOn(t, network, "east.test:8761")
	change = append([]func(*registry.Settings){func(s *registry.Settings) {
		s.Regions.URLs = map[string]string{"East": "http://east.test:8761/eureka"}
	}}, change...)
	return east, startOn(t, network, "west.test:8761", change...)
}

func TestRegions(t *testing.T) {
	t.Run("eureka 53 and 54 their applications are shown too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			east, west := remote(t)
			east.register(instance("r", "r:1"))
			pass(31 * time.Second)
			if got := west.list("/eureka/apps"); got.HashCode != "UP_1_" || !cmp.Equal(ids(got), []string{"R/r:1 UP"}) {
				t.Errorf("%q %s", ids(got), got.HashCode)
			}
			west.register(instance("l", "l:1"))
			if got := west.list("/eureka/apps?regions=EAST"); got.HashCode != "UP_2_" || got.Len() != 2 {
				t.Errorf("%q %s", ids(got), got.HashCode)
			}
			if got := west.list("/eureka/apps?regions=nowhere"); got.HashCode != "UP_1_" || !cmp.Equal(ids(got), []string{"L/l:1 UP"}) {
				t.Errorf("local: %q %s", ids(got), got.HashCode)
			}
			east.register(instance("r", "r:2"))
			west.register(instance("r", "l:2"))
			pass(31 * time.Second)
			if diff := cmp.Diff([]string{"L/l:1 UP", "R/l:2 UP", "R/r:1 UP", "R/r:2 UP"}, ids(west.list("/eureka/apps"))); diff != "" {
				t.Error(diff)
			}
			delta := west.list("/eureka/apps/delta")
			if all := strings.Join(actions(delta), " "); !strings.Contains(all, "r:2") || !strings.Contains(all, "l:1") || delta.HashCode != "UP_4_" {
				t.Errorf("delta %s, hash %s", all, delta.HashCode)
			}
			if west.get("R", "r:1") == nil || west.do(http.MethodGet, "/eureka/instances/r:2", "").status != 200 {
				t.Error("an instance of the region is not found")
			}
			if got := west.do(http.MethodGet, "/eureka/apps/R", "", asJSON).body; strings.Contains(got, "r:1") {
				t.Errorf("a local application is not alone: %s", got)
			}
			east.want(200, http.MethodDelete, "/eureka/apps/R/r:1", "")
			east.want(200, http.MethodDelete, "/eureka/apps/R/r:2", "")
			pass(31 * time.Second)
			if diff := cmp.Diff([]string{"L/l:1 UP", "R/l:2 UP"}, ids(west.list("/eureka/apps"))); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("eureka 55 not before they have been read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			network := memhttp.NewNetwork()
			west := startOn(t, network, "west.test:8761", func(s *registry.Settings) {
				s.Regions.URLs = map[string]string{"east": "http://east.test:8761/eureka/"}
			})
			synctest.Wait()
			west.want(403, http.MethodGet, "/eureka/apps?regions=east", "")
			west.want(200, http.MethodGet, "/eureka/apps", "")
			startOn(t, network, "east.test:8761")
			pass(31 * time.Second)
			west.want(200, http.MethodGet, "/eureka/apps?regions=east", "")
		})
	})
	t.Run("eureka 56 a whitelist per region, or for all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, row := range []struct {
				lists map[string][]string
				want  []string
			}{
				{nil, []string{"A/a:1 UP", "B/b:1 UP"}},
				{map[string][]string{"global": {"A"}}, []string{"A/a:1 UP"}},
				{map[string][]string{"global": {"A"}, "east": {"B"}}, []string{"B/b:1 UP"}},
				{map[string][]string{"other": {"A"}}, []string{"A/a:1 UP", "B/b:1 UP"}},
			} {
				east, west := remote(t, func(s *registry.Settings) { s.Regions.Whitelist = row.lists })
				east.register(instance("a", "a:1"))
				pass(31 * time.Second)
				east.register(instance("b", "b:1"))
				pass(31 * time.Second)
				if diff := cmp.Diff(row.want, ids(west.list("/eureka/apps"))); diff != "" {
					t.Errorf("%v: %s", row.lists, diff)
				}
				if got := west.list("/eureka/apps"); got.HashCode != got.Hash() {
					t.Errorf("hash %s of %q", got.HashCode, ids(got))
				}
			}
		})
	})
	t.Run("without the fallback only those who name a region see it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			east, west := remote(t, func(s *registry.Settings) { s.Regions.NoFallback, s.Regions.DisableDelta = true, true })
			east.register(instance("a", "a:1"))
			pass(31 * time.Second)
			if west.list("/eureka/apps").Len() != 0 || west.list("/eureka/apps?regions=east").Len() != 1 || west.get("A", "a:1") != nil {
				t.Error("the region is shown to others, or not to those")
			}
		})
	})
	t.Run("a region that fails keeps its last list", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			east, west := remote(t)
			east.register(instance("a", "a:1"))
			pass(31 * time.Second)
			east.kill()
			pass(10 * time.Minute)
			if west.list("/eureka/apps").Len() != 1 || !strings.Contains(west.log.String(), "remote region could not be read") {
				t.Error(west.log)
			}
		})
	})
}
