package registry_test

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/registry"
)

// cluster is three peers, of which some may be isolated from the others.
type cluster struct {
	t        *testing.T
	network  *memhttp.Network
	nodes    [3]*node
	isolated [3]atomic.Bool
}

// wire is what node from reaches the others through.
type wire struct {
	*cluster
	*http.Transport
	from int
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if to := slices.Index(hosts(), req.URL.Host); w.isolated[w.from].Load() || w.isolated[to].Load() {
		return nil, &net.OpError{Op: "dial", Net: "mem", Err: errors.New("no route to host")}
	}
	return w.Transport.RoundTrip(req)
}

func hosts() []string { return []string{"one.test:8761", "two.test:8761", "three.test:8761"} }

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, network: memhttp.NewNetwork()}
	for i := range c.nodes {
		c.start(i)
	}
	pass(time.Minute) // until all of them have found that nobody has a list
	return c
}

func (c *cluster) start(i int) {
	c.t.Helper()
	c.nodes[i] = startOn(c.t, c.network, hosts()[i], func(s *registry.Settings) {
		s.Peers = []string{"http://one.test:8761/eureka/", "http://two.test:8761/eureka/", "http://three.test:8761/eureka/"}
		s.Transport = &wire{c, c.network.Transport(c.t), i}
	})
}

// beat renews from each node's own clients for a while, every 30 s.
func (c *cluster) beat(clients map[int][]*eureka.Instance, d time.Duration) {
	c.t.Helper()
	for range int(d / (30 * time.Second)) {
		for node, all := range clients {
			for _, i := range all {
				if c.nodes[node].beat(i) == http.StatusNotFound {
					c.nodes[node].register(i)
				}
			}
		}
		pass(30 * time.Second)
	}
}

func (c *cluster) wantSame(want []string) {
	c.t.Helper()
	for k, n := range c.nodes {
		if diff := cmp.Diff(want, ids(n.list("/eureka/apps"))); diff != "" {
			c.t.Errorf("node %d: %s", k+1, diff)
		}
	}
}

// names lists what all nodes should show.
func names(clients map[int][]*eureka.Instance) []string {
	apps := &eureka.Applications{}
	for _, all := range clients {
		for _, i := range all {
			apps.Applications = append(apps.Applications, eureka.Application{Name: i.App, Instances: []*eureka.Instance{i}})
		}
	}
	return ids(apps)
}

func TestCluster(t *testing.T) {
	t.Run("eureka 34 heartbeats at two nodes end in one instance", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := startCluster(t)
			i := instance("a", "h:1", dirty(time.Now().UnixMilli()))
			c.nodes[0].register(i)
			for range 4 {
				for _, n := range c.nodes[:2] {
					if n.beat(i) == http.StatusNotFound {
						continue // as a client that has two registries would: it has registered at the first
					}
				}
				pass(30 * time.Second)
			}
			c.wantSame([]string{"A/h:1 UP"})
			newer := instance("a", "h:1", dirty(time.Now().UnixMilli()), func(i *eureka.Instance) { i.Metadata = map[string]string{"v": "2"} })
			c.nodes[1].register(newer, fromPeer) // only the second has it
			c.nodes[0].beat(i)                   // whose answer brings it to the first
			pass(2 * time.Second)
			if got := c.nodes[0].get("A", "h:1").Metadata["v"]; got != "2" {
				t.Errorf("the first has version %q", got)
			}
		})
	})
	t.Run("a peer that restarts never shows a partial list", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := startCluster(t)
			clients := map[int][]*eureka.Instance{0: c.nodes[0].fleet("a", 30), 1: c.nodes[1].fleet("b", 30)}
			c.beat(clients, 2*time.Minute)
			c.wantSame(names(clients))
			c.nodes[2].kill()
			c.beat(clients, 2*time.Minute)
			c.isolated[2].Store(true)
			c.start(2)
			synctest.Wait()
			late := instance("c", "c:1")
			c.nodes[2].register(late)
			for range 5 {
				c.nodes[2].want(403, http.MethodGet, "/eureka/apps", "")
				c.nodes[2].want(403, http.MethodGet, "/eureka/apps/delta", "")
				c.nodes[2].want(403, http.MethodGet, "/eureka/apps/C", "")
				c.nodes[2].want(204, http.MethodGet, "/eureka/healthcheck", "")
				pass(5 * time.Second)
			}
			c.isolated[2].Store(false)
			pass(10 * time.Second)
			clients[2] = []*eureka.Instance{late}
			c.beat(clients, time.Minute)
			c.wantSame(names(clients))
		})
	})
	t.Run("a peer that is cut off converges when it is back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := startCluster(t)
			clients := map[int][]*eureka.Instance{0: c.nodes[0].fleet("a", 30), 1: c.nodes[1].fleet("b", 30), 2: c.nodes[2].fleet("c", 30)}
			c.beat(clients, 3*time.Minute)
			c.wantSame(names(clients))

			c.isolated[2].Store(true)
			c.beat(clients, 5*time.Minute)
			for k, n := range c.nodes {
				if got := n.leases(); got.Instances != 90 || got.Expires {
					t.Errorf("node %d, cut: %+v", k+1, got)
				}
			}
			// Meanwhile things happen on both sides.
			gone := clients[0][0]
			clients[0] = clients[0][1:]
			c.nodes[0].want(200, http.MethodDelete, "/eureka/apps/A/"+gone.ID, "")
			clients[1] = append(clients[1], c.nodes[1].fleet("d", 1)...)
			clients[2] = append(clients[2], c.nodes[2].fleet("e", 1)...)
			changed := clients[2][0]
			changed.LastDirty, changed.Metadata = time.Now(), map[string]string{"v": "2"}
			c.nodes[2].register(changed)
			c.nodes[0].set(clients[0][0], eureka.OutOfService)
			clients[0][0].Status = eureka.OutOfService
			c.beat(clients, 5*time.Minute)

			c.isolated[2].Store(false)
			c.beat(clients, 10*time.Minute)
			c.wantSame(names(clients))
			for k, n := range c.nodes {
				if got := n.get("C", changed.ID); got == nil || got.Metadata["v"] != "2" {
					t.Errorf("node %d has %+v", k+1, got)
				}
				if got := n.leases(); !got.Expires || got.Preserving {
					t.Errorf("node %d, healed: %+v", k+1, got)
				}
				if strings.Contains(n.log.String(), "lease expired") && k < 2 {
					t.Errorf("node %d: %s", k+1, n.log)
				}
			}
		})
	})
	t.Run("a peer that can be reached is asked at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			network := memhttp.NewNetwork()
			n := startOn(t, network, "one.test:8761", func(s *registry.Settings) { s.Peers = []string{"http://two.test:8761/eureka/"} })
			n.register(instance("a", "a:1"))
			pass(5 * time.Second)
			n.want(403, http.MethodGet, "/eureka/apps", "")
			two := startOn(t, network, "two.test:8761")
			two.register(instance("b", "b:1"), fromPeer)
			n.register(instance("a", "a:2"))
			pass(9 * time.Second) // at most, until the next attempt to tell it
			if diff := cmp.Diff([]string{"A/a:1 UP", "A/a:2 UP", "B/b:1 UP"}, ids(n.list("/eureka/apps"))); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("peers that start one after the other open together", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			network := memhttp.NewNetwork()
			one := startOn(t, network, "one.test:8761", func(s *registry.Settings) { s.Peers = []string{"http://two.test:8761/eureka/"} })
			pass(2 * time.Second)
			one.want(403, http.MethodGet, "/eureka/apps", "")
			two := startOn(t, network, "two.test:8761", func(s *registry.Settings) { s.Peers = []string{"http://one.test:8761/eureka/"} })
			pass(time.Second)
			one.want(200, http.MethodGet, "/eureka/apps", "")
			two.want(200, http.MethodGet, "/eureka/apps", "")
		})
	})
	t.Run("those that start without a third do not keep each other busy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := &cluster{t: t, network: memhttp.NewNetwork()}
			c.start(0)
			c.start(1)
			pass(4 * time.Minute)
			if n := strings.Count(c.nodes[0].log.String(), "no list from peer"); n > 200 {
				t.Errorf("asked %d times", n)
			}
			c.nodes[0].want(403, http.MethodGet, "/eureka/apps", "")
			pass(2 * time.Minute)
			c.nodes[0].want(200, http.MethodGet, "/eureka/apps", "")
		})
	})
	t.Run("peers that all start are open within a retry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := startCluster(t)
			c.wantSame(nil)
		})
	})
	t.Run("without any peer the list opens when clients have had their time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Peers = []string{"http://gone.test:8761/eureka/"} })
			n.register(instance("a", "h:1"))
			pass(4*time.Minute + 59*time.Second)
			n.want(403, http.MethodGet, "/eureka/apps", "")
			pass(2 * time.Second)
			n.want(200, http.MethodGet, "/eureka/apps", "")
		})
	})
}
