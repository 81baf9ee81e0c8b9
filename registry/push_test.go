package registry_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/registry"
)

// listener reads a push stream.
type listener struct {
	t      *testing.T
	status int
	header http.Header
	events chan pushed
	cancel context.CancelFunc
}

type pushed struct{ name, id, data string }

func (n *node) listen(t *testing.T) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.addr+"/eureka/push", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{t: t, events: make(chan pushed, 1000), cancel: cancel}
	answered := make(chan error)
	go func() {
		defer close(l.events)
		res, err := n.client.RoundTrip(req)
		if err != nil {
			answered <- err
			return
		}
		defer res.Body.Close()
		l.status, l.header = res.StatusCode, res.Header
		answered <- nil
		l.read(res.Body)
	}()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *listener) read(body io.Reader) {
	var e pushed
	for lines := bufio.NewScanner(body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e != (pushed{}) {
				l.events <- e
			}
			e = pushed{}
		}
	}
}

// next waits for an event of a name and gives what it lists.
func (l *listener) next(name string) (pushed, *eureka.Applications) {
	l.t.Helper()
	select {
	case e := <-l.events:
		if e.name != name {
			l.t.Fatalf("event %+v, want %s", e, name)
		}
		if name == "gone" {
			return e, nil
		}
		apps, err := eureka.Decoder{Format: eureka.JSON}.Applications(strings.NewReader(e.data))
		if err != nil {
			l.t.Fatal(err)
		}
		return e, apps
	case <-time.After(time.Second):
		l.t.Fatalf("no %s within a second", name)
		return pushed{}, nil
	}
}

func TestPush(t *testing.T) {
	t.Run("a change arrives at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, eager, func(s *registry.Settings) { s.Cache.ReadOnly = true })
			n.register(instance("a", "h:1"))
			n.list("/eureka/apps")
			l := n.listen(t)
			if l.status != 200 || l.header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("%d %v", l.status, l.header)
			}
			if _, marker := l.next("sync"); marker.HashCode != "UP_1_" || marker.Len() != 0 {
				t.Errorf("marker %+v", marker)
			}
			began := time.Now()
			i := instance("b", "h:2", lasting(10*time.Second))
			n.register(i)
			if e, delta := l.next("delta"); !cmp.Equal(actions(delta), []string{"B/h:2 ADDED"}) || delta.HashCode != "UP_2_" || e.id != "2" {
				t.Errorf("%q %s %s", actions(delta), delta.HashCode, e.id)
			}
			n.set(i, eureka.Down)
			if _, delta := l.next("delta"); !cmp.Equal(actions(delta), []string{"B/h:2 MODIFIED"}) || delta.HashCode != "DOWN_1_UP_1_" {
				t.Errorf("%q %s", actions(delta), delta.HashCode)
			}
			n.want(200, http.MethodDelete, "/eureka/apps/A/h:1", "")
			if _, delta := l.next("delta"); !cmp.Equal(actions(delta), []string{"A/h:1 DELETED"}) || delta.HashCode != "DOWN_1_" {
				t.Errorf("%q %s", actions(delta), delta.HashCode)
			}
			if e, _ := l.next("gone"); e.data != `{"canceled":["A/h:1"]}` {
				t.Error(e)
			}
			if took := time.Since(began); took > 0 {
				t.Errorf("took %v", took)
			}
			pass(time.Minute)
			l.next("delta")
			if e, _ := l.next("gone"); e.data != `{"expired":["B/h:2"]}` {
				t.Error(e)
			}
		})
	})
	t.Run("changes that come together travel together", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			l := n.listen(t)
			l.next("sync")
			done := make(chan struct{})
			for range 2 {
				go func() {
					defer func() { done <- struct{}{} }()
					for k := range 50 {
						n.register(instance("a", "h:1", dirty(int64(k))))
					}
				}()
			}
			<-done
			<-done
			pass(time.Millisecond)
			if got := len(l.events); got == 0 || got > 100 {
				t.Errorf("%d events", got)
			}
			var last pushed
			for len(l.events) > 0 {
				last = <-l.events
			}
			if !strings.Contains(last.data, "UP_1_") {
				t.Error(last)
			}
		})
	})
	t.Run("who does not read is cut off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Limits.PushBacklog = 4 })
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.addr+"/eureka/push", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			res, err := n.client.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			other := n.listen(t)
			synctest.Wait()
			if got := n.Status().Subscribers; got != 2 {
				t.Fatalf("%d subscribers", got)
			}
			for k := range 200 {
				n.register(instance("a", "h:1", dirty(int64(k)), func(i *eureka.Instance) { i.Metadata = map[string]string{"x": strings.Repeat("x", 1000)} }))
				synctest.Wait()
			}
			if got := n.Status().Subscribers; got != 1 {
				t.Errorf("%d subscribers", got)
			}
			if len(other.events) < 100 {
				t.Errorf("the other got %d", len(other.events))
			}
		})
	})
	t.Run("streams are bounded and end with the registry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Limits.Subscribers = 2 })
			a, b := n.listen(t), n.listen(t)
			n.want(503, http.MethodGet, "/eureka/push", "")
			a.cancel()
			synctest.Wait()
			c := n.listen(t)
			if c.status != 200 {
				t.Errorf("status %d after one has left", c.status)
			}
			b.next("sync")
			pass(20 * time.Second) // keep-alives are no events
			n.stop()
			if _, open := <-b.events; open {
				t.Error("an event instead of the end")
			}
		})
	})
	t.Run("a registry that may have part of the list does not push", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Peers = []string{"http://gone.test:1/eureka/"} })
			n.want(403, http.MethodGet, "/eureka/push", "")
		})
	})
}

func TestFollow(t *testing.T) {
	t.Run("the process itself sees changes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			lists := make(chan []string, 100)
			done := make(chan struct{})
			ctx, stop := context.WithCancel(t.Context())
			go func() {
				defer close(done)
				n.Follow(ctx, func(l *eureka.Applications) { lists <- ids(l) })
			}()
			synctest.Wait()
			n.fleet("a", 3)
			pass(time.Second)
			n.want(200, http.MethodDelete, "/eureka/apps/A/a-0:80", "")
			pass(time.Second)
			stop()
			<-done
			close(lists)
			var got [][]string
			for l := range lists {
				got = append(got, l)
			}
			want := [][]string{nil, {"A/a-0:80 UP", "A/a-1:80 UP", "A/a-2:80 UP"}, {"A/a-1:80 UP", "A/a-2:80 UP"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	})
}
