package registry_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// batch sends items as a peer does and gives the status of each.
func (n *node) batch(items ...eureka.ReplicationItem) []eureka.ReplicationResult {
	n.tb.Helper()
	got := n.want(200, http.MethodPost, "/eureka/peerreplication/batch/", string(eureka.AppendReplication(nil, items)), sendJSON, asJSON)
	results, err := eureka.ReadReplicationResults(strings.NewReader(got.body), eureka.Limits{})
	if err != nil {
		n.tb.Fatalf("%v in %s", err, got.body)
	}
	return results
}

func statuses(results []eureka.ReplicationResult) (all []int) {
	for _, r := range results {
		all = append(all, r.StatusCode)
	}
	return all
}

func TestBatch(t *testing.T) {
	item := func(a eureka.ReplicationAction, change func(*eureka.ReplicationItem)) eureka.ReplicationItem {
		i := eureka.ReplicationItem{AppName: "A", ID: "h:1", Action: a, LastDirty: time.UnixMilli(100), Status: "UP"}
		if change != nil {
			change(&i)
		}
		return i
	}
	registerItem := item(eureka.Register, func(i *eureka.ReplicationItem) { i.Instance = instance("a", "h:1") })
	t.Run("eureka 29 and 30 register and cancel", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", status(eureka.OutOfService)))
			got := n.batch(registerItem, item(eureka.Cancel, func(i *eureka.ReplicationItem) { i.ID = "other" }))
			if diff := cmp.Diff([]int{200, 404}, statuses(got)); diff != "" {
				t.Error(diff)
			}
			n.wantStatus(instance("a", "h:1"), eureka.Up, eureka.Unknown) // as a peer says, not as rule 3 has it
			if diff := cmp.Diff([]int{200, 404}, statuses(n.batch(item(eureka.Cancel, nil), item(eureka.Cancel, nil)))); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("eureka 31 C192 a heartbeat", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", dirty(100)))
			got := n.batch(
				item(eureka.Heartbeat, nil),
				item(eureka.Heartbeat, func(i *eureka.ReplicationItem) { i.LastDirty = time.UnixMilli(99) }),
				item(eureka.Heartbeat, func(i *eureka.ReplicationItem) {
					i.LastDirty, i.OverriddenStatus = time.UnixMilli(101), "OUT_OF_SERVICE"
				}),
				item(eureka.Heartbeat, func(i *eureka.ReplicationItem) { i.ID = "other" }),
			)
			if diff := cmp.Diff([]int{200, 409, 404, 404}, statuses(got)); diff != "" {
				t.Error(diff)
			}
			if got[0].Instance != nil || got[1].Instance == nil || got[1].Instance.ID != "h:1" || got[1].Instance.LastDirty.UnixMilli() != 100 {
				t.Errorf("%+v", got)
			}
			n.register(instance("a", "h:1", dirty(101)), fromPeer)
			n.wantStatus(instance("a", "h:1"), eureka.OutOfService, eureka.OutOfService)
		})
	})
	t.Run("eureka 32 status changes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", dirty(100)))
			down := func(i *eureka.ReplicationItem) { i.Status, i.LastDirty = "DOWN", time.UnixMilli(500) }
			if diff := cmp.Diff([]int{200}, statuses(n.batch(item(eureka.StatusUpdate, down)))); diff != "" {
				t.Error(diff)
			}
			n.wantStatus(instance("a", "h:1"), eureka.Down, eureka.Down)
			if got := n.get("A", "h:1").LastDirty.UnixMilli(); got != 500 {
				t.Errorf("dirty %d", got)
			}
			if diff := cmp.Diff([]int{200}, statuses(n.batch(item(eureka.DeleteStatusOverride, nil)))); diff != "" {
				t.Error(diff)
			}
			n.wantStatus(instance("a", "h:1"), eureka.Up, eureka.Unknown)
		})
	})
	t.Run("eureka 33 one that fails does not stop the others", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			got := n.batch(
				registerItem,
				item(eureka.StatusUpdate, func(i *eureka.ReplicationItem) { i.Status = "bogus" }),
				item(eureka.DeleteStatusOverride, func(i *eureka.ReplicationItem) { i.LastDirty = time.Time{} }),
				item("Dance", nil),
				item(eureka.Register, nil),
				item(eureka.Register, func(i *eureka.ReplicationItem) {
					i.ID, i.Instance = "h:2", instance("a", "h:2", func(i *eureka.Instance) { i.IPAddr = "" })
				}),
				item(eureka.Heartbeat, nil),
			)
			if diff := cmp.Diff([]int{200, 500, 500, 500, 500, 200, 200}, statuses(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"A/h:1 UP"}, ids(n.list("/eureka/apps"))); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("what is no batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			for _, body := range []string{"", "[]", "{", "<xml/>"} {
				n.want(400, http.MethodPost, "/eureka/peerreplication/batch", body, sendJSON)
			}
		})
	})
}

func TestBatchRoundTrip(t *testing.T) {
	full := instance("a", "h:1", func(i *eureka.Instance) {
		i.Metadata, i.OverriddenStatus, i.Action, i.LastUpdated = map[string]string{"k": "v"}, eureka.Down, eureka.Added, time.UnixMilli(7)
		i.CountryID, i.DataCenter.Class = 1, "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"
	})
	want := []eureka.ReplicationItem{
		{AppName: "A", ID: "h:1", LastDirty: time.UnixMilli(100), OverriddenStatus: "DOWN", Status: "UP", Instance: full, Action: eureka.Register},
		{AppName: "A", ID: "h:2", Action: eureka.Cancel},
	}
	got, err := eureka.ReadReplication(strings.NewReader(string(eureka.AppendReplication(nil, want))), eureka.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("eureka 35", diff)
	}
}
