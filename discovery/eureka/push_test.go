package eureka_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// pusher is the push side of a fake: what is sent to it goes to the open stream.
type pusher struct {
	*fake
	events chan string
	opened int
	mu     sync.Mutex
}

func newPusher() *pusher {
	p := &pusher{fake: newFake(), events: make(chan string)}
	p.answersTo("GET push", p.stream)
	return p
}

func (p *pusher) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	p.mu.Lock()
	p.opened++
	p.mu.Unlock()
	p.fake.mu.Lock()
	hash := p.hash
	p.fake.mu.Unlock()
	_, _ = fmt.Fprintf(w, "event: sync\nid: 1\ndata: {\"applications\":{\"versions__delta\":\"1\",\"apps__hashcode\":%q,\"application\":[]}}\n\n", hash)
	flush := http.NewResponseController(w)
	for {
		_ = flush.Flush()
		select {
		case e := <-p.events:
			if e == "" {
				return
			}
			_, _ = w.Write([]byte(e))
		case <-r.Context().Done():
			return
		}
	}
}

func (p *pusher) streams() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened
}

// push tells of changes, with the hash after them.
func (p *pusher) push(action eureka.Action, hash string, instances ...*eureka.Instance) {
	p.put(action, instances...)
	list := &eureka.Applications{VersionsDelta: 2, HashCode: hash}
	for _, i := range instances {
		list.Applications = append(list.Applications, eureka.Application{Name: i.App, Instances: []*eureka.Instance{i}})
	}
	p.events <- "event: delta\nid: 2\ndata: " + string(eureka.Encoder{}.AppendApplications(nil, list)) + "\n\n"
}

func TestPushedChangesArriveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(), newPusher()
		r.start(t, "r", p)
		p.put(eureka.Added, up("USERS", "u1"))
		c := follow(t, eureka.ClientSettings{Servers: r.at("r")})
		defer c.end()
		c.after(3 * time.Second)
		if !c.State().Pushing {
			t.Fatal("not pushed to")
		}
		c.want(t, "users: u1")
		p.take()
		p.push(eureka.Added, "UP_2_", up("USERS", "u2"))
		c.after(0)
		c.want(t, "users: u1 u2")
		p.events <- "event: gone\ndata: {\"evicted\":[\"USERS/u1\"]}\n\n: still here\n\n"
		p.push(eureka.Deleted, "UP_1_", up("USERS", "u1"))
		c.after(0)
		c.want(t, "users: u2")
		wantAsked(t, p.fake) // nothing
	})
}

func TestPushThatDoesNotAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(), newPusher()
		r.start(t, "r", p)
		p.put(eureka.Added, up("USERS", "u1"))
		c := follow(t, eureka.ClientSettings{Servers: r.at("r")})
		defer c.end()
		c.after(3 * time.Second)
		p.take()
		p.put(eureka.Added, up("BOOKS", "b1")) // of which no push tells
		p.push(eureka.Added, "UP_3_", up("USERS", "u2"))
		c.after(0)
		c.want(t, "books: b1", "users: u1 u2")
		if asked := p.take(); len(asked) == 0 {
			t.Error("nothing was read again")
		}

		t.Log("a registry whose hash is never right does not get a request for each event")
		p.fake.mu.Lock()
		p.hash = "UP_99_"
		p.fake.mu.Unlock()
		for range 50 {
			p.push(eureka.Modified, "UP_99_", up("USERS", "u2"))
			c.after(0)
		}
		if asked := p.take(); len(asked) > 8 {
			t.Errorf("asked %d times", len(asked))
		}
	})
}

func TestPushBreaks(t *testing.T) {
	for name, row := range map[string]struct {
		breakIt func(*pusher)
		within  time.Duration
	}{
		"the registry ends it":     {func(p *pusher) { p.events <- "" }, 30 * time.Second},
		"an event that is no list": {func(p *pusher) { p.events <- "event: delta\ndata: nonsense\n\n" }, 30 * time.Second},
		"silence":                  {func(*pusher) {}, 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, p := newRig(), newPusher()
				r.start(t, "r", p)
				p.put(eureka.Added, up("USERS", "u1"))
				c := follow(t, eureka.ClientSettings{Servers: r.at("r")})
				defer c.end()
				c.after(3 * time.Second)
				row.breakIt(p)
				p.put(eureka.Added, up("USERS", "u2"))
				c.after(row.within)
				c.want(t, "users: u1 u2")
				if p.streams() < 2 || !c.State().Pushing {
					t.Errorf("%d streams were opened, state %+v", p.streams(), c.State())
				}
			})
		})
	}
}

func TestRegistriesThatDoNotPush(t *testing.T) {
	for name, how := range map[string]http.HandlerFunc{
		"404":          status(http.StatusNotFound),
		"not a stream": says("application/json", "{}"),
		"503":          status(http.StatusServiceUnavailable),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				f.answersTo("GET push", how)
				f.put(eureka.Added, up("USERS", "u1"))
				c := follow(t, eureka.ClientSettings{Servers: r.at("r")})
				defer c.end()
				c.after(10 * time.Minute)
				pushes := 0
				for _, one := range f.take() {
					if strings.HasPrefix(one, "GET push") {
						pushes++
					}
				}
				if pushes == 0 || pushes > 12 || c.State().Pushing {
					t.Errorf("asked to push %d times, state %+v", pushes, c.State())
				}
				c.want(t, "users: u1")
			})
		})
	}
}

func TestPushOfAnEventWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(), newPusher()
		r.start(t, "r", p)
		s := eureka.ClientSettings{Servers: r.at("r")}
		s.Servers.Limits.Bytes = 20_000
		c := follow(t, s)
		defer c.end()
		c.after(3 * time.Second)
		for range 10 {
			p.events <- "data: " + strings.Repeat("x", 4000) + "\n"
		}
		c.after(3 * time.Second)
		wantLogged(t, r, "an event of more than 20000 bytes")
	})
}
