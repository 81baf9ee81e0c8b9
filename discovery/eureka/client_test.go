package eureka_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// poll are settings without push, so that what is asked can be told.
func (r *rig) poll(hosts ...string) eureka.ClientSettings {
	return eureka.ClientSettings{Servers: r.at(hosts...), NoPush: true}
}

func TestFetching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		f.put(eureka.Added, up("USERS", "u1"))
		c := follow(t, r.poll("r"))
		defer c.end()

		t.Log("eureka 91: a full list, then deltas")
		c.after(0)
		c.want(t, "users: u1")
		wantAsked(t, f, "GET apps/")
		f.put(eureka.Added, up("USERS", "u2"))
		c.after(30 * time.Second)
		c.want(t, "users: u1 u2")
		f.put(eureka.Added, up("BOOKS", "b1"))
		c.after(30 * time.Second)
		c.want(t, "books: b1", "users: u1 u2")
		wantAsked(t, f, "GET apps/delta", "GET apps/delta")
		if got := c.View().Len(); got != 3 {
			t.Errorf("%d instances are known", got)
		}

		t.Log("eureka 92: a changed status changes the hash; eureka 98: and hides the instance")
		down := up("USERS", "u2")
		down.Status = eureka.Down
		f.put(eureka.Modified, down)
		c.after(30 * time.Second)
		c.want(t, "books: b1", "users: u1")
		if got := c.View().Hash(); got != "DOWN_1_UP_2_" {
			t.Errorf("hash %s", got)
		}
		if c.View().Instance("users", "u2") == nil || len(c.View().Application("users")) != 1 || len(c.View().VIP("users")) != 1 {
			t.Error("the instance that is down is not found by its id, or in a list")
		}

		t.Log("eureka 93: one of two goes, then the last")
		f.put(eureka.Deleted, down)
		c.after(30 * time.Second)
		c.want(t, "books: b1", "users: u1")
		f.put(eureka.Deleted, up("BOOKS", "b1"))
		c.after(30 * time.Second)
		c.want(t, "users: u1")
		wantAsked(t, f, "GET apps/delta", "GET apps/delta", "GET apps/delta")

		t.Log("eureka 97: without its last instance a virtual address has none")
		f.put(eureka.Deleted, up("USERS", "u1"))
		c.after(30 * time.Second)
		c.want(t)
		if c.View().VIP("users") != nil {
			t.Error("an instance is still found")
		}
	})
}

// eureka 94.
func TestEureka94DeltaThatDoesNotAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		f.put(eureka.Added, up("USERS", "u1"))
		c := follow(t, r.poll("r"))
		defer c.end()
		c.after(0)
		f.mu.Lock()
		f.instances, f.changes = map[string]*eureka.Instance{"BOOKS/b1": up("BOOKS", "b1"), "BOOKS/b2": up("BOOKS", "b2")}, nil
		f.mu.Unlock()
		f.take()
		c.after(30 * time.Second)
		wantAsked(t, f, "GET apps/delta", "GET apps/")
		c.want(t, "books: b1 b2")
	})
}

func TestWhatAsksForAFullList(t *testing.T) {
	for name, row := range map[string]struct {
		settings func(*eureka.ClientSettings)
		prepare  func(*fake)
		want     []string
	}{
		"deltas switched off": {func(s *eureka.ClientSettings) { s.DisableDelta = true }, nil, []string{"GET apps/", "GET apps/"}},
		"deltas forbidden":    {nil, func(f *fake) { f.answersTo("GET apps/delta", status(http.StatusForbidden)) }, []string{"GET apps/", "GET apps/delta", "GET apps/"}},
		"deltas unknown":      {nil, func(f *fake) { f.answersTo("GET apps/delta", status(http.StatusNotFound)) }, []string{"GET apps/", "GET apps/delta", "GET apps/"}},
		"deltas without a hash": {nil, func(f *fake) {
			f.answersTo("GET apps/delta", says("application/json", `{"applications":{"application":[]}}`))
		}, []string{"GET apps/", "GET apps/delta", "GET apps/"}},
		"deltas of no content": {nil, func(f *fake) { f.answersTo("GET apps/delta", status(http.StatusNoContent)) }, []string{"GET apps/", "GET apps/delta", "GET apps/"}},
		"an empty list":        {nil, func(f *fake) { f.instances = map[string]*eureka.Instance{} }, []string{"GET apps/", "GET apps/"}},
		"further regions":      {func(s *eureka.ClientSettings) { s.Regions = []string{"a", "b"} }, nil, []string{"GET apps/?regions=a%2Cb", "GET apps/delta?regions=a%2Cb"}},
		"a single virtual address": {func(s *eureka.ClientSettings) { s.SingleVIP = "users v1" }, func(f *fake) {
			f.answersTo("GET vips/", says("application/json", `{"applications":{"application":[]}}`))
		}, []string{"GET vips/users%20v1", "GET vips/users%20v1"}},
		"nothing out of the ordinary": {nil, nil, []string{"GET apps/", "GET apps/delta"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				f.put(eureka.Added, up("USERS", "u1"))
				if row.prepare != nil {
					row.prepare(f)
				}
				s := r.poll("r")
				if row.settings != nil {
					row.settings(&s)
				}
				c := follow(t, s)
				defer c.end()
				c.after(30 * time.Second)
				wantAsked(t, f, row.want...)
			})
		})
	}
}

func TestRequestHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		s := r.poll("r")
		s.Servers.ServiceURLs["defaultZone"] = []string{" http://u:p%40ss@r:8761/eureka "}
		s.Servers.AllowRedirects, s.Servers.Compact = true, true
		c := follow(t, s)
		c.after(0)
		c.end()
		want := http.Header{
			"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Authorization": {"Basic dTpwQHNz"}, "User-Agent": {"Gozer-EurekaClient"},
			"Discoveryidentity-Name": {"DefaultClient"}, "Discoveryidentity-Version": {"1.4"}, "X-Discovery-Allowredirect": {"true"}, "X-Eureka-Accept": {"compact"},
		}
		if diff := cmp.Diff(want, f.header()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPackedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		list := &eureka.Applications{Applications: []eureka.Application{{Name: "USERS", Instances: []*eureka.Instance{up("USERS", "u1")}}}}
		f.answersTo("GET apps/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "application/xml")
			_, _ = w.Write(zipped(string(eureka.Encoder{Format: eureka.XML}.AppendApplications(nil, list))))
		})
		c := follow(t, r.poll("r"))
		defer c.end()
		c.after(0)
		c.want(t, "users: u1")
	})
}

// The registry is down at the start, or answers rubbish, and comes later.
func TestC174RegistryComesLater(t *testing.T) {
	for name, before := range map[string]http.HandlerFunc{
		"refused":     nil,
		"status 503":  status(http.StatusServiceUnavailable),
		"HTML":        says("text/html", "<html/>"),
		"hangs":       hangs,
		"eureka 106":  status(http.StatusInternalServerError),
		"an empty {}": says("application/json", "{}"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				f.put(eureka.Added, up("USERS", "u1"))
				if before != nil {
					f.answers(before)
					r.start(t, "r", f)
				}
				s := r.poll("nobody", "r")
				s.FetchInterval = 5 * time.Second
				c := follow(t, s)
				defer c.end()
				c.after(20 * time.Second)
				if c.latest != nil || !c.State().Fetched.IsZero() || c.State().Trouble == "" {
					t.Errorf("reported %v, state %+v", c.latest, c.State())
				}
				if strings.Count(r.log.String(), "level=WARN") != 1 {
					t.Errorf("the same trouble is logged again and again:\n%s", r.log.String())
				}
				if f.answers(nil); before == nil {
					r.start(t, "r", f)
				}
				c.after(50 * time.Second) // a hanging registry has made the interval grow
				c.want(t, "users: u1")
				if c.State().Fetched.IsZero() || c.State().Trouble != "" {
					t.Errorf("state %+v", c.State())
				}
			})
		})
	}
}

// Whatever a registry answers but a list, the last good one stays.
func TestC175LastGoodListStays(t *testing.T) {
	for name, how := range map[string]http.HandlerFunc{
		"500":              status(http.StatusInternalServerError),
		"403":              status(http.StatusForbidden),
		"204":              status(http.StatusNoContent),
		"HTML":             says("text/html", "<html/>"),
		"HTML as JSON":     says("application/json", "<html/>"),
		"cut off":          says("application/json", `{"applications":{"application":[{"name":"X"`),
		"an empty object":  says("application/json", `{}`),
		"null":             says("application/json", `{"applications":null}`),
		"XML that is none": says("application/xml", `<error/>`),
		"gzip that is none": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			says("application/json", "x")(w, r)
		},
		"an encoding": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			says("application/json", "x")(w, r)
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://elsewhere/")
			w.WriteHeader(http.StatusFound)
		},
		"redirect to itself": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://r:8761/eureka/apps/")
			w.WriteHeader(http.StatusFound)
		},
		"other redirect": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://r:8761/")
			w.WriteHeader(http.StatusMovedPermanently)
		},
		"hangs": hangs,
		"dies":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				f.put(eureka.Added, up("USERS", "u1"))
				c := follow(t, r.poll("r"))
				defer c.end()
				c.after(0)
				f.answers(how)
				c.after(5 * time.Minute)
				c.want(t, "users: u1")
				wantLogged(t, r, "the last one stays")
				if c.State().Trouble == "" {
					t.Error("nothing is said to be wrong")
				}
				f.answers(nil)
				f.put(eureka.Added, up("USERS", "u2"))
				c.after(5 * time.Minute)
				c.want(t, "users: u1 u2")
			})
		})
	}
}

func TestRegistryGoesAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		f.put(eureka.Added, up("USERS", "u1"))
		c := follow(t, r.poll("r"))
		defer c.end()
		c.after(0)
		r.stop("r")
		c.after(10 * time.Minute)
		c.want(t, "users: u1")
		f.put(eureka.Deleted, up("USERS", "u1"))
		f.put(eureka.Added, up("USERS", "u2"))
		r.start(t, "r", f)
		c.after(30 * time.Second)
		c.want(t, "users: u2")
	})
}

// eureka 96, whatever the case.
func TestEureka96LookUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		u := up("USERS", "u1")
		u.VIPAddress, u.SecureVIPAddress = "users,Users-v2", "s-users"
		f.put(eureka.Added, u)
		c := follow(t, r.poll("r"))
		defer c.end()
		c.after(0)
		v := c.View()
		for name, found := range map[string][]*eureka.Instance{
			"VIP": v.VIP("USERS-V2"), "first VIP": v.VIP("users"), "secure VIP": v.SecureVIP("S-Users"), "application": v.Application("Users"),
		} {
			if len(found) != 1 || found[0].ID != "u1" {
				t.Errorf("%s: %v", name, found)
			}
		}
		if len(v.VIP("nobody")) != 0 || len(v.Application("nobody")) != 0 || v.Instance("nobody", "x") != nil || v.Instance("USERS", "x") != nil {
			t.Error("something unknown was found")
		}
		if diff := cmp.Diff([]string{"USERS"}, v.Names()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhatBecomesOfAnInstance(t *testing.T) {
	amazon := eureka.DataCenter{Name: eureka.Amazon, Metadata: map[string]string{"availability-zone": "us-east-1c", "instance-id": "i-1"}}
	for name, row := range map[string]struct {
		change func(*eureka.Instance)
		want   discovery.Instance
	}{
		"as usual":                      {func(*eureka.Instance) {}, discovery.Instance{ID: "u", Host: "u", Port: 80, Zone: "zone-a"}},
		"zone by metadata":              {func(i *eureka.Instance) { i.Metadata = map[string]string{"zone": "z"} }, discovery.Instance{ID: "u", Host: "u", Port: 80, Zone: "z", Metadata: map[string]string{"zone": "z"}}},
		"zone of Amazon":                {func(i *eureka.Instance) { i.ID, i.DataCenter = "", amazon }, discovery.Instance{ID: "i-1", Host: "u", Port: 80, Zone: "us-east-1c"}},
		"eureka 95 without data centre": {func(i *eureka.Instance) { i.DataCenter = eureka.DataCenter{} }, discovery.Instance{ID: "u", Host: "u", Port: 80, Zone: "zone-a"}},
		"secure port alone": {func(i *eureka.Instance) {
			i.Port, i.SecurePort = eureka.Port{}, eureka.Port{Number: 443, Enabled: true}
		}, discovery.Instance{ID: "u", Host: "u", Port: 443, Secure: true, Zone: "zone-a"}},
		"both ports":                     {func(i *eureka.Instance) { i.SecurePort = eureka.Port{Number: 443, Enabled: true} }, discovery.Instance{ID: "u", Host: "u", Port: 443, Secure: true, PlainPort: 80, Zone: "zone-a"}},
		"no host":                        {func(i *eureka.Instance) { i.HostName = "" }, discovery.Instance{ID: "u", Host: "10.0.0.1", Port: 80, Zone: "zone-a"}},
		"virtual addresses of their own": {func(i *eureka.Instance) { i.VIPAddress, i.SecureVIPAddress = "users, U2", "u2,US" }, discovery.Instance{ID: "u", Host: "u", Port: 80, Zone: "zone-a", Aliases: []string{"u2", "us"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				i := up("USERS", "u")
				row.change(i)
				f.put(eureka.Added, i)
				s := r.poll("r")
				s.Servers.AvailabilityZones = map[string][]string{"us-east-1": {"zone-a", "zone-b"}}
				c := follow(t, s)
				defer c.end()
				c.after(0)
				row.want.Service, row.want.IP, row.want.Plain = "users", "10.0.0.1", !row.want.Secure
				if diff := cmp.Diff(discovery.Update{"users": {row.want}}, c.latest); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestAllStatuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		down := up("USERS", "u1")
		down.Status = eureka.Down
		f.put(eureka.Added, down)
		s := r.poll("r")
		c := follow(t, s)
		c.after(0)
		c.want(t, "users:")
		c.end()
		s.AllStatuses = true
		c = follow(t, s)
		c.after(0)
		c.want(t, "users: u1")
		c.end()
	})
}

// eureka 116: a run is cancelled after its interval, and the delay doubles.
func TestEureka116FetchesThatTakeTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		f.put(eureka.Added, up("USERS", "u1"))
		s := r.poll("r")
		s.BackOffBound, s.Servers.ReadTimeout = 4, time.Hour
		c := follow(t, s)
		defer c.end()
		c.after(time.Second)
		f.answers(hangs)
		f.take()
		var gaps []time.Duration
		for last := time.Now(); len(gaps) < 5; {
			for len(f.take()) == 0 {
				c.after(time.Second)
			}
			gaps = append(gaps, time.Since(last).Round(10*time.Second))
			last = time.Now()
		}
		// Each run is cancelled after 30 s, then comes the delay: 60, 120, 120, 120.
		want := []time.Duration{30 * time.Second, 90 * time.Second, 150 * time.Second, 150 * time.Second, 150 * time.Second}
		if diff := cmp.Diff(want, gaps); diff != "" {
			t.Error(diff)
		}
		f.answers(nil)
		c.after(5 * time.Minute)
		f.take()
		c.after(30 * time.Second)
		if asked := f.take(); len(asked) != 1 {
			t.Errorf("after the recovery %q", asked)
		}
	})
}
