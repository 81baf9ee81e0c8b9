package registry_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/registry"
)

// fakePeer is a registry that answers batches as a test wants.
type fakePeer struct {
	answer func(call int, items []eureka.ReplicationItem) (status int, results []eureka.ReplicationResult)
	slow   time.Duration

	mu      sync.Mutex
	at      []time.Duration
	batches [][]eureka.ReplicationItem
	headers []http.Header
	began   time.Time
}

func (f *fakePeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"applications":{"versions__delta":"1","apps__hashcode":"","application":[]}}`)
		return
	}
	body, _ := eureka.Unpacked(r.Body, r.Header.Get("Content-Encoding"))
	items, _ := eureka.ReadReplication(body, eureka.Limits{})
	f.mu.Lock()
	call := len(f.batches)
	f.batches, f.headers, f.at = append(f.batches, items), append(f.headers, r.Header), append(f.at, time.Since(f.began))
	f.mu.Unlock()
	if f.slow > 0 {
		select {
		case <-time.After(f.slow):
		case <-r.Context().Done(): // the caller has given up
			return
		}
	}
	status, results := 200, make([]eureka.ReplicationResult, len(items))
	for i := range results {
		results[i].StatusCode = 200
	}
	if f.answer != nil {
		status, results = f.answer(call, items)
	}
	w.WriteHeader(status)
	w.Write(eureka.AppendReplicationResults(nil, results))
}

// said lists what each batch held.
func (f *fakePeer) said() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all [][]string
	for _, b := range f.batches {
		var one []string
		for _, i := range b {
			one = append(one, fmt.Sprintf("%s %s/%s", i.Action, i.AppName, i.ID))
		}
		all = append(all, one)
	}
	return all
}

// withPeer is a registry beside a peer that is faked.
func withPeer(t *testing.T, f *fakePeer, change ...func(*registry.Settings)) *node {
	t.Helper()
	network := memhttp.NewNetwork()
	network.Serve(t, "peer.test:8761", f)
	change = append([]func(*registry.Settings){func(s *registry.Settings) {
		s.Peers = []string{"http://one.test:8761/eureka/", "http://peer.test:8761/eureka"}
	}}, change...)
	n := startOn(t, network, "one.test:8761", change...)
	synctest.Wait()
	f.began = time.Now()
	return n
}

func TestReplication(t *testing.T) {
	t.Run("eureka 65 each change is told in a batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{}
			n, i := withPeer(t, f), instance("a", "h:1")
			for _, step := range []func(){
				func() { n.register(i) }, func() { n.beat(i) }, func() { n.set(i, eureka.Down) }, func() { n.unset(i, eureka.Up) },
				func() { n.want(200, http.MethodPut, "/eureka/apps/A/h:1/metadata?k=v", "") },
				func() { n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "") },
			} {
				step()
				pass(600 * time.Millisecond)
			}
			want := [][]string{{"Register A/h:1"}, {"Heartbeat A/h:1"}, {"StatusUpdate A/h:1"}, {"DeleteStatusOverride A/h:1"}, {"Register A/h:1"}, {"Cancel A/h:1"}}
			if diff := cmp.Diff(want, f.said()); diff != "" {
				t.Error(diff)
			}
			if h := f.headers[0]; h.Get("DiscoveryIdentity-Name") != "DefaultServer" || h.Get("Content-Type") != "application/json" || h.Get("X-Netflix-Discovery-Replication") != "" {
				t.Errorf("headers %v", h)
			}
			if got := f.batches[4][0].Instance.Metadata["k"]; got != "v" {
				t.Errorf("metadata %q", got)
			}
		})
	})
	t.Run("what a peer says is not passed on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{}
			n, i := withPeer(t, f), instance("a", "h:1")
			n.register(i, fromPeer)
			n.beat(i, fromPeer)
			n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "", fromPeer)
			pass(time.Second)
			if got := f.said(); len(got) > 0 {
				t.Errorf("told: %q", got)
			}
		})
	})
	t.Run("eureka 36 batches may be compressed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{}
			n := withPeer(t, f, func(s *registry.Settings) { s.Replication.Compress = true })
			n.register(instance("a", "h:1"))
			pass(time.Second)
			if got := f.said(); len(got) != 1 || f.headers[0].Get("Content-Encoding") != "gzip" {
				t.Errorf("%q %v", got, f.headers)
			}
		})
	})
	t.Run("eureka 63 a peer that does not know an instance is told of it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{answer: func(call int, items []eureka.ReplicationItem) (int, []eureka.ReplicationResult) {
				return 200, []eureka.ReplicationResult{{StatusCode: []int{404, 200}[min(call, 1)]}}
			}}
			n, i := withPeer(t, f), instance("a", "h:1")
			n.register(i, fromPeer)
			n.beat(i)
			pass(2 * time.Second)
			if diff := cmp.Diff([][]string{{"Heartbeat A/h:1"}, {"Register A/h:1"}}, f.said()); diff != "" {
				t.Error(diff)
			}
		})
	})
	for name, code := range map[string]int{"eureka 64 a refusal with an instance": 400, "C192 a conflict": 409} {
		t.Run(name+" is taken over", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakePeer{answer: func(int, []eureka.ReplicationItem) (int, []eureka.ReplicationResult) {
					newer := instance("a", "h:1", dirty(999), func(i *eureka.Instance) { i.OverriddenStatus, i.Status = eureka.Down, eureka.Down })
					return 200, []eureka.ReplicationResult{{StatusCode: code, Instance: newer}}
				}}
				n, i := withPeer(t, f), instance("a", "h:1")
				n.register(i, fromPeer)
				n.beat(i)
				pass(2 * time.Second)
				n.wantStatus(i, eureka.Down, eureka.Down)
				if got := n.get("A", "h:1").LastDirty.UnixMilli(); got != 999 {
					t.Errorf("dirty %d", got)
				}
				if got := f.said(); len(got) != 1 {
					t.Errorf("told: %q", got)
				}
			})
		})
	}
	t.Run("eureka 67 a refused item does not fail its batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{answer: func(_ int, items []eureka.ReplicationItem) (int, []eureka.ReplicationResult) {
				results := make([]eureka.ReplicationResult, len(items))
				for i := range results {
					results[i].StatusCode = 400
				}
				return 200, results
			}}
			n := withPeer(t, f)
			n.fleet("a", 3)
			pass(5 * time.Second)
			if got := f.said(); len(got) != 1 || len(got[0]) != 3 || !strings.Contains(n.log.String(), "peer refused a change") {
				t.Errorf("%q %s", got, n.log)
			}
		})
	})
}

func TestReplicationFaults(t *testing.T) {
	failing := func(code, times int) func(int, []eureka.ReplicationItem) (int, []eureka.ReplicationResult) {
		return func(call int, items []eureka.ReplicationItem) (int, []eureka.ReplicationResult) {
			if call < times {
				return code, nil
			}
			return 200, make([]eureka.ReplicationResult, len(items))
		}
	}
	for _, row := range []struct {
		name string
		peer *fakePeer
		at   []time.Duration
	}{
		{"eureka 66 503 is congestion", &fakePeer{answer: failing(503, 2)}, []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond}},
		{"eureka 66 so is a slow answer", &fakePeer{slow: 3 * time.Second}, []time.Duration{500 * time.Millisecond, 1900 * time.Millisecond, 4300 * time.Millisecond}},
		{"eureka 66 406 is for good", &fakePeer{answer: failing(406, 9)}, []time.Duration{500 * time.Millisecond}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := withPeer(t, row.peer)
				n.register(instance("a", "h:1"))
				pass(5 * time.Second)
				row.peer.mu.Lock()
				defer row.peer.mu.Unlock()
				if diff := cmp.Diff(row.at, row.peer.at); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	t.Run("eureka 66 no connection is transient", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			network := memhttp.NewNetwork()
			f := &fakePeer{began: time.Now()}
			network.Serve(t, "peer.test:8761", f).Close()
			n := startOn(t, network, "one.test:8761", func(s *registry.Settings) {
				s.Peers, s.Replication.SyncRetries, s.Leases.WaitWhenSyncEmpty = []string{"http://peer.test:8761/eureka/"}, 0, 0
			})
			n.register(instance("a", "h:1"))
			pass(1150 * time.Millisecond) // tried at 0.5, 0.6, 0.8 and, next, 1.2 s
			network.Serve(t, "peer.test:8761", f)
			pass(time.Second)
			f.mu.Lock()
			defer f.mu.Unlock()
			if diff := cmp.Diff([]time.Duration{1200 * time.Millisecond}, f.at); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("eureka 68 69 70 71 a queue that has to wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{answer: failing(503, 1)}
			n := withPeer(t, f, func(s *registry.Settings) { s.Replication.MaxQueue = 300 })
			all := n.fleet("a", 10)
			pass(250 * time.Millisecond)
			n.beat(all[0]) // half a delay later, travels with them
			pass(300 * time.Millisecond)
			n.beat(all[1])
			n.beat(all[1])     // 68: told once
			n.register(all[9]) // replaces what is to be sent again
			n.fleet("b", 290)  // 70: too many by some
			pass(10 * time.Second)
			said := f.said()
			if len(said) < 3 || len(said[0]) != 11 || said[0][10] != "Heartbeat A/a-0:80" {
				t.Fatalf("first: %q", said)
			}
			if said[1][0] != "Register A/a-9:80" && said[1][0] != "Heartbeat A/a-1:80" && !strings.HasPrefix(said[1][0], "Register ") {
				t.Errorf("second begins with %q", said[1][0])
			}
			count := map[string]int{}
			for _, b := range said[1:] {
				if len(b) > 250 {
					t.Errorf("%d in one batch", len(b))
				}
				for _, one := range b {
					count[one]++
				}
			}
			for what, times := range count {
				if times != 1 {
					t.Errorf("%s is told %d times", what, times)
				}
			}
			if status := n.Status().Peers[0]; status.Dropped == 0 || status.Replaced == 0 {
				t.Errorf("%+v", status)
			}
		})
	})
	t.Run("eureka 69 what is sent again goes first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{answer: failing(503, 1)}
			n := withPeer(t, f)
			n.fleet("a", 2)
			pass(600 * time.Millisecond)
			n.fleet("b", 1)
			pass(3 * time.Second)
			want := [][]string{{"Register A/a-0:80", "Register A/a-1:80"}, {"Register A/a-0:80", "Register A/a-1:80", "Register B/b-0:80"}}
			if diff := cmp.Diff(want, f.said()); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("C194 a slow peer gets less, not more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{slow: 3 * time.Second}
			n := withPeer(t, f)
			all := n.fleet("a", 3000)
			for range 4 {
				began := time.Now()
				n.beatAll(all)
				if took := time.Since(began); took > 0 {
					t.Errorf("heartbeats took %v", took)
				}
				pass(30 * time.Second)
			}
			f.mu.Lock()
			calls := len(f.at)
			f.mu.Unlock()
			if got := n.Status().Peers[0]; calls > 30 || got.Queued > 6000 {
				t.Errorf("%d calls in two minutes, %+v", calls, got)
			}
			pass(5 * time.Second)
		})
	})
	t.Run("a change that is too old is not told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fakePeer{answer: failing(503, 8)}
			n, i := withPeer(t, f), instance("a", "h:1")
			n.register(i)
			n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "")
			pass(3 * time.Minute)
			if got := n.Status().Peers[0]; got.Expired != 2 || got.Queued != 0 {
				t.Errorf("%+v", got)
			}
		})
	})
}

func TestPeerList(t *testing.T) {
	t.Run("eureka 60 61 62 a reload keeps those that stay", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			const a, b, c = "http://a.test:8761/eureka/", "http://b.test:8761/eureka/", "http://c.test:8761/eureka/"
			n := start(t, func(s *registry.Settings) { s.Peers = []string{a} })
			first := n.PeerNames()
			n.SetPeers([]string{a, b, " " + b + " "})
			second := n.PeerNames()
			n.SetPeers([]string{b, c})
			third := n.PeerNames()
			n.SetPeers(nil)
			if len(second) != 2 || second[a] != first[a] || len(third) != 2 || third[b] != second[b] || third[c] == nil {
				t.Errorf("%v %v %v", first, second, third)
			}
			if !maps.Equal(n.PeerNames(), third) {
				t.Error("an empty list was taken")
			}
		})
	})
	t.Run("a registry knows itself", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, row := range []struct {
				self registry.Self
				want int
			}{
				{registry.Self{Hosts: []string{"a.test"}, Port: 8761}, 2},
				{registry.Self{Hosts: []string{"A.test"}}, 1},
				{registry.Self{Hosts: []string{"x.test"}, Port: 8761, MyURL: "http://b.test:80/eureka/"}, 2},
			} {
				s := registry.DefaultSettings()
				s.Self, s.Peers = row.self, []string{"http://a.test:8761/eureka/", "http://a.test:8762/eureka/", "http://b.test:80/eureka/"}
				r, err := registry.New(s)
				if err != nil {
					t.Fatal(err)
				}
				if got := r.PeerNames(); len(got) != row.want {
					t.Errorf("%+v: peers %v", row.self, got)
				}
			}
		})
	})
	t.Run("even under a name that it did not know", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) {
				s.Self.Hosts, s.Peers = nil, []string{"http://one.test:8761/eureka/"}
			})
			pass(31 * time.Second)
			n.want(200, http.MethodGet, "/eureka/apps", "")
			if got := n.PeerNames(); len(got) > 0 {
				t.Errorf("peers %v", got)
			}
		})
	})
	t.Run("eureka 73 credentials are shown to nobody", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			network := memhttp.NewNetwork()
			var seen string
			network.Serve(t, "peer.test:8761", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				user, password, _ := r.BasicAuth()
				seen = user + " " + password
				w.WriteHeader(http.StatusInternalServerError)
			}))
			n := startOn(t, network, "one.test:8761", func(s *registry.Settings) {
				s.Peers = []string{"http://user:p%40ss@peer.test:8761/eureka/", "http://user:pw@other.test:1/eureka/", "http://user:pw@%zz"}
				s.Leases.WaitWhenSyncEmpty = 0
			})
			n.register(instance("a", "h:1"))
			pass(time.Minute)
			page := n.want(200, http.MethodGet, "/", "").body
			if !strings.Contains(page, `<a href="http://peer.test:8761/eureka/" rel="noreferrer">peer.test:8761</a>`) {
				t.Error(page)
			}
			for where, text := range map[string]string{"page": page, "status": n.do(http.MethodGet, "/eureka/status", "").body, "log": n.log.String()} {
				if strings.Contains(text, "pw") || strings.Contains(text, "p%40ss") || strings.Contains(text, "p@ss") {
					t.Errorf("%s shows a password: %s", where, text)
				}
			}
			if seen != "user p@ss" {
				t.Errorf("the peer saw %q", seen)
			}
		})
	})
	t.Run("eureka 72 enough peers, or not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for least, want := range map[int]string{-1: "", 0: "true", 1: "false"} {
				s := registry.DefaultSettings()
				s.Peers, s.Leases.MinAvailablePeers = []string{"http://a.test:8761/eureka/"}, least
				r, err := registry.New(s)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if healthy := r.Status().Healthy; healthy != nil {
					got = strconv.FormatBool(*healthy)
				}
				if got != want {
					t.Errorf("at least %d: %q", least, got)
				}
			}
		})
	})
}
