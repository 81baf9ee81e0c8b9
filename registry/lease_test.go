package registry_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/registry"
)

func (n *node) set(i *eureka.Instance, s eureka.Status) {
	n.tb.Helper()
	n.want(200, http.MethodPut, "/eureka/apps/"+i.App+"/"+i.ID+"/status?value="+s.String(), "")
}

func (n *node) unset(i *eureka.Instance, s eureka.Status) {
	n.tb.Helper()
	n.want(200, http.MethodDelete, "/eureka/apps/"+i.App+"/"+i.ID+"/status?value="+s.String(), "")
}

func TestEffectiveStatus(t *testing.T) {
	t.Run("eureka 37 an override outlives registrations", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1")
			n.register(i)
			n.set(i, eureka.OutOfService)
			n.register(instance("a", "h:1", dirty(200)))
			n.wantStatus(i, eureka.OutOfService, eureka.OutOfService)
			n.unset(i, eureka.Down)
			n.wantStatus(i, eureka.Down, eureka.Unknown)
			n.register(instance("a", "h:1", dirty(300)))
			n.wantStatus(i, eureka.Up, eureka.Unknown)
		})
	})
	t.Run("eureka 38 renewing brings the override back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1")
			n.register(i)
			n.set(i, eureka.Down)
			// A peer's override reaches the map, not the status.
			n.want(404, http.MethodPut, "/eureka/apps/A/h:1?lastDirtyTimestamp=999&overriddenstatus=OUT_OF_SERVICE", "", fromPeer)
			n.unset(i, eureka.Up)
			n.want(404, http.MethodPut, "/eureka/apps/A/h:1?lastDirtyTimestamp=999&overriddenstatus=OUT_OF_SERVICE", "", fromPeer)
			n.wantStatus(i, eureka.Up, eureka.Unknown)
			n.beat(i)
			if got := n.get("A", "h:1").Status; got != eureka.OutOfService {
				t.Errorf("status %s", got)
			}
			if got := ids(n.list("/eureka/apps")); got[0] != "A/h:1 OUT_OF_SERVICE" {
				t.Errorf("the list shows %q", got)
			}
		})
	})
	t.Run("eureka 39 STARTING beats an override", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1")
			n.register(i)
			n.set(i, eureka.OutOfService)
			n.register(instance("a", "h:1", status(eureka.Starting)))
			n.wantStatus(i, eureka.Starting, eureka.OutOfService)
		})
	})
	for name, first := range map[string]eureka.Status{"eureka 40 UP stays": eureka.Up, "eureka 41 OUT_OF_SERVICE stays": eureka.OutOfService} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, i := start(t), instance("a", "h:1", status(first))
				n.register(i)
				other := eureka.Up + eureka.OutOfService - first
				for range 2 {
					n.register(instance("a", "h:1", status(other)))
					n.wantStatus(i, first, eureka.Unknown)
				}
				n.register(instance("a", "h:1", status(other)), fromPeer)
				n.wantStatus(i, other, eureka.Unknown)
			})
		})
	}
	t.Run("eureka 42 an auto-scaling group means nothing here", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1", func(i *eureka.Instance) { i.ASGName = "g" })
			n.register(i)
			n.want(400, http.MethodPut, "/eureka/asg/g/status?value=DISABLED", "")
			n.register(i)
			n.wantStatus(i, eureka.Up, eureka.Unknown)
		})
	})
	t.Run("an override goes when nobody has asked for an hour", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1", lasting(24*time.Hour))
			n.register(i)
			n.set(i, eureka.OutOfService)
			pass(59 * time.Minute)
			n.beat(i)
			pass(59 * time.Minute)
			n.register(i)
			n.wantStatus(i, eureka.OutOfService, eureka.OutOfService)
			pass(61 * time.Minute)
			var left map[string]string
			decodeJSON(t, n.do(http.MethodGet, "/eureka/serverinfo/statusoverrides", "").body, &left)
			if len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	})
}

func TestOverridesAndTheirInstances(t *testing.T) {
	t.Run("a cancellation ends the override", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1")
			n.register(i)
			n.set(i, eureka.OutOfService)
			n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "")
			n.register(i)
			n.wantStatus(i, eureka.Up, eureka.Unknown)
		})
	})
	t.Run("another application with the same id has no part in it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i, other := start(t), instance("a", "h"), instance("b", "h")
			n.register(i)
			n.register(other)
			n.set(other, eureka.OutOfService)
			n.beat(i)
			n.register(i)
			n.wantStatus(i, eureka.Up, eureka.Unknown)
			n.want(200, http.MethodDelete, "/eureka/apps/A/h", "")
			n.register(other)
			n.wantStatus(other, eureka.OutOfService, eureka.OutOfService)
		})
	})
	t.Run("an older time of the operator's leaves the instance's own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1", dirty(100))
			n.register(i)
			for sent, want := range map[string]int64{"99": 100, "": 100, "101": 101} {
				n.want(200, http.MethodPut, "/eureka/apps/A/h:1/status?value=DOWN&lastDirtyTimestamp="+sent, "")
				if got := n.get("A", "h:1").LastDirty.UnixMilli(); got != want {
					t.Errorf("%q: %d, want %d", sent, got, want)
				}
				n.unset(i, eureka.Up)
				n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "")
				n.register(i)
			}
		})
	})
	t.Run("an expired instance is shown while nothing expires", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, i := start(t), instance("a", "h:1", lasting(time.Second))
			n.register(i)
			pass(time.Minute)
			n.wantStatus(i, eureka.Up, eureka.Unknown)
			n.set(i, eureka.Down)
		})
	})
}

func TestOlderRegistration(t *testing.T) {
	t.Run("eureka 43 changes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", dirty(200), func(i *eureka.Instance) { i.Metadata = map[string]string{"first": "1"} }))
			n.register(instance("a", "h:1", dirty(100), func(i *eureka.Instance) { i.Metadata = map[string]string{"second": "1"} }))
			if got := n.get("A", "h:1"); got.Metadata["first"] != "1" || got.Metadata["second"] != "" || got.LastDirty.UnixMilli() != 200 {
				t.Errorf("%+v", got)
			}
			if diff := cmp.Diff([]string{"A/h:1 ADDED"}, actions(n.list("/eureka/apps/delta"))); diff != "" {
				t.Error(diff)
			}
		})
	})
}

// fleet registers n instances of an application.
func (n *node) fleet(app string, size int, change ...func(*eureka.Instance)) []*eureka.Instance {
	n.tb.Helper()
	var all []*eureka.Instance
	for k := range size {
		i := instance(app, fmt.Sprintf("%s-%d:80", app, k), change...)
		n.register(i)
		all = append(all, i)
	}
	return all
}

func (n *node) beatAll(all []*eureka.Instance) {
	n.tb.Helper()
	for _, i := range all {
		if got := n.beat(i); got != 200 {
			n.tb.Errorf("%s: heartbeat %d", i.ID, got)
		}
	}
}

func TestSelfPreservation(t *testing.T) {
	// The original's test runs with leases of 30 s and an eviction every second or so.
	t.Run("eureka 46 renewals open and close expiry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Leases.EvictionInterval = 5 * time.Second })
			all := n.fleet("a", 50, lasting(30*time.Second))
			if got := n.leases().Threshold; got != 85 {
				t.Errorf("threshold %d", got)
			}
			pass(15 * time.Second)
			n.beatAll(all[:45])
			pass(25 * time.Second)
			if got := n.leases(); got.Renewals != 0 || got.Expires || got.Instances != 50 {
				t.Errorf("at 40 s: %+v", got)
			}
			pass(5 * time.Second)
			n.beatAll(all[:45])
			pass(30 * time.Second)
			n.beatAll(all[:45])
			pass(5 * time.Second)
			if got := n.leases(); got.Renewals != 90 || !got.Expires || got.Instances != 45 {
				t.Errorf("at 80 s: %+v", got)
			}
			more := n.fleet("b", 106, lasting(30*time.Second))
			pass(25 * time.Second)
			n.beatAll(all[:45])
			n.Recount()
			if got := n.leases(); got.Threshold != 256 || got.Instances != 151 {
				t.Errorf("with %d more: %+v", len(more), got)
			}
			pass(time.Minute)
			if got := n.leases(); got.Expires || got.Instances != 151 {
				t.Errorf("later: %+v", got)
			}
		})
	})
	t.Run("eureka 47 each new instance raises the threshold", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Leases.ExpectedClients = 10 })
			pass(0)
			for _, step := range []struct {
				do        func()
				expected  int
				threshold int
			}{
				{func() {}, 10, 17},
				{func() { n.register(instance("a", "h:1")) }, 11, 18},
				{func() { n.register(instance("a", "h:1")) }, 11, 18},
				{func() { n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "") }, 10, 17},
			} {
				step.do()
				if got := n.leases(); got.Expected != step.expected || got.Threshold != step.threshold {
					t.Errorf("%+v, want %d and %d", got, step.expected, step.threshold)
				}
			}
		})
	})
	t.Run("eureka 59 Spring's own count never lets one client expire", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Leases.ExpectedClients = 1 })
			pass(0)
			i := instance("a", "h:1")
			n.register(i)
			for range 11 {
				pass(30 * time.Second)
				n.beat(i)
			}
			if got := n.leases(); got.Expected != 2 || got.Threshold != 3 || got.Renewals != 2 || got.Expires || !got.BelowThreshold {
				t.Errorf("%+v", got)
			}
			if page := n.want(200, http.MethodGet, "/", "").body; !strings.Contains(page, "Self-preservation: only 2 renewals") {
				t.Error(page)
			}
		})
	})
	t.Run("C190 a mass loss expires nothing, until it is over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, quick)
			all := n.fleet("a", 20, quickLease)
			beat := func(live []*eureka.Instance, seconds int) {
				for range seconds {
					n.beatAll(live)
					pass(time.Second)
				}
			}
			beat(all, 121)
			if got := n.leases(); !got.Expires || got.Instances != 20 {
				t.Errorf("well: %+v", got)
			}
			beat(all[:12], 59)
			if got := n.leases(); !got.Preserving || got.Instances != 20 {
				t.Errorf("8 just lost: %+v", got)
			}
			beat(all[:12], 71)
			if got := n.leases(); got.Expires || !got.BelowThreshold || !got.Preserving || got.Instances != 20 {
				t.Errorf("8 lost: %+v", got)
			}
			n.fleet("a", 20, quickLease)
			beat(all, 121)
			if got := n.leases(); !got.Expires || got.Preserving || got.Instances != 20 {
				t.Errorf("8 back: %+v", got)
			}
			beat(all[2:], 20)
			if got := n.leases(); got.Instances != 18 {
				t.Errorf("2 lost for good: %+v", got)
			}
		})
	})
	t.Run("C190 without it they go, a share at a time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, quick, eager)
			all := n.fleet("a", 20, quickLease)
			var left []int
			for range 20 {
				n.beatAll(all[:12])
				pass(time.Second)
				left = append(left, n.leases().Instances)
			}
			if left[19] != 12 {
				t.Errorf("left: %d", left)
			}
			for i := range left[1:] {
				if gone := left[i] - left[i+1]; gone > 3 {
					t.Errorf("%d went in one run: %d", gone, left)
				}
			}
		})
	})
	t.Run("C188 expired instances are no longer expected", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, quick)
			n.fleet("a", 9, quickLease)
			for round := range 31 {
				killed := instance("b", fmt.Sprintf("b-%d:80", round), quickLease)
				n.register(killed)
				for range 70 {
					n.fleetBeat("a", 9)
					pass(time.Second)
				}
				if n.get("B", killed.ID) != nil {
					t.Fatalf("round %d: the killed one is still there, %+v", round, n.leases())
				}
			}
			if got := n.leases(); got.Expected != 9 || got.BelowThreshold || !got.Expires {
				t.Errorf("%+v", got)
			}
		})
	})
	t.Run("the count follows the list in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Leases.ExpectedClients = 10 })
			pass(0)
			n.fleet("a", 100, lasting(time.Hour))
			if got := n.leases().Expected; got != 110 {
				t.Errorf("expected %d", got)
			}
			pass(15 * time.Minute)
			if got := n.leases().Expected; got != 100 {
				t.Errorf("expected %d", got)
			}
		})
	})
}

// quick are the intervals of the faults' harness.
func quick(s *registry.Settings) {
	s.Leases.ClientRenewalInterval, s.Leases.EvictionInterval = time.Second, time.Second
	s.Leases.ThresholdUpdateInterval, s.Leases.WaitWhenSyncEmpty = 2*time.Second, 0
}

func quickLease(i *eureka.Instance) {
	i.Lease = eureka.Lease{RenewalInterval: time.Second, Duration: 3 * time.Second}
}

func (n *node) fleetBeat(app string, size int) {
	n.tb.Helper()
	for k := range size {
		n.want(200, http.MethodPut, fmt.Sprintf("/eureka/apps/%s/%s-%d:80", app, app, k), "")
	}
}

func TestEviction(t *testing.T) {
	t.Run("eureka 49 a share of all at a time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, eager)
			n.fleet("a", 10, lasting(30*time.Second))
			var left []int
			for range 4 {
				pass(time.Minute)
				left = append(left, n.leases().Instances)
			}
			if diff := cmp.Diff([]int{8, 6, 5, 4}, left); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("eureka 50 a lease lives once or twice its duration", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, eager)
			n.register(instance("a", "never:1", lasting(time.Second)))
			i := instance("a", "once:1", lasting(time.Second))
			n.register(i)
			n.beat(i)
			pass(1100 * time.Millisecond)
			if n.get("A", "never:1") != nil || n.get("A", "once:1") == nil {
				t.Error("at 1.1 s")
			}
			pass(400 * time.Millisecond)
			if n.get("A", "once:1") == nil {
				t.Error("at 1.5 s")
			}
			pass(600 * time.Millisecond)
			if n.get("A", "once:1") != nil {
				t.Error("at 2.1 s")
			}
			if got := ids(n.list("/eureka/apps")); len(got) != 2 {
				t.Errorf("the list has %q before the eviction", got)
			}
			if n.beat(i) != 200 || n.get("A", "once:1") == nil {
				t.Error("a heartbeat does not revive it")
			}
		})
	})
	t.Run("exact expiry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, eager, func(s *registry.Settings) { s.Leases.ExactExpiry = true })
			i := instance("a", "h:1", lasting(time.Second))
			n.register(i)
			n.beat(i)
			pass(1100 * time.Millisecond)
			if n.get("A", "h:1") != nil {
				t.Error("it lives twice")
			}
		})
	})
	t.Run("why an instance has gone is told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, eager)
			n.fleet("a", 1, lasting(time.Second))
			n.register(instance("b", "h:1"))
			n.want(200, http.MethodDelete, "/eureka/apps/B/h:1", "")
			pass(time.Minute)
			page := n.want(200, http.MethodGet, "/lastn", "").body
			for _, want := range []string{"<td>A(a-0:80)</td><td>expired</td>", "<td>B(h:1)</td><td>canceled</td>"} {
				if !strings.Contains(page, want) {
					t.Errorf("no %s in %s", want, page)
				}
			}
		})
	})
	t.Run("ghosts go in one call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.fleet("a", 5, lasting(10*time.Second))
			n.fleet("b", 2, lasting(10*time.Second))
			live := instance("a", "live:1", lasting(time.Hour))
			n.register(live)
			pass(time.Minute)
			var answer struct{ Ghosts, Removed []string }
			decodeJSON(t, n.want(200, http.MethodGet, "/eureka/ghosts", "").body, &answer)
			if len(answer.Ghosts) != 7 {
				t.Errorf("ghosts: %q", answer.Ghosts)
			}
			decodeJSON(t, n.want(200, http.MethodDelete, "/eureka/ghosts?app=b", "").body, &answer)
			if diff := cmp.Diff([]string{"B/b-0:80", "B/b-1:80"}, answer.Removed); diff != "" {
				t.Error(diff)
			}
			n.want(200, http.MethodDelete, "/eureka/ghosts", "")
			if diff := cmp.Diff([]string{"A/live:1 UP"}, ids(n.list("/eureka/apps"))); diff != "" {
				t.Error(diff)
			}
		})
	})
}

func TestLeaseInfo(t *testing.T) {
	t.Run("eureka 58 durations and times are shown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			began := time.Now()
			plain := instance("a", "h:1", func(i *eureka.Instance) { i.Lease = eureka.Lease{} })
			n.register(plain)
			n.register(instance("a", "h:2", lasting(10*time.Second)))
			pass(5 * time.Second)
			n.beat(plain)
			got := n.get("A", "h:1").Lease
			if got.Duration != 90*time.Second || got.RenewalInterval != 30*time.Second || !got.Registered.Equal(began) || !got.ServiceUp.Equal(began) {
				t.Errorf("%+v", got)
			}
			if ahead := got.Renewed.Sub(began); ahead != 95*time.Second {
				t.Errorf("the last renewal is shown %v after the start, want one duration ahead", ahead)
			}
			if got := n.get("A", "h:2").Lease.Duration; got != 10*time.Second {
				t.Errorf("duration %v", got)
			}
		})
	})
}
