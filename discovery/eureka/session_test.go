package eureka_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// inOrder finds a seed with which the hosts are asked in their order.
func inOrder(t *testing.T, r *rig, hosts ...string) eureka.ServerSettings {
	t.Helper()
	s := r.at(hosts...)
	for n := range 10_000 {
		s.Seed = strconv.Itoa(n)
		order, err := eureka.Order(s)
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(order, s.ServiceURLs["defaultZone"]) {
			return s
		}
	}
	t.Fatal("no seed gives the order", hosts)
	return s
}

// several starts registries on hosts.
func several(t *testing.T, r *rig, hosts ...string) map[string]*fake {
	t.Helper()
	all := map[string]*fake{}
	for _, host := range hosts {
		all[host] = newFake()
		r.start(t, host, all[host])
	}
	return all
}

// counts tells how often each was asked since the last time, in the order of hosts.
func counts(all map[string]*fake, hosts ...string) (n []int) {
	for _, host := range hosts {
		n = append(n, len(all[host].take()))
	}
	return n
}

func wantCounts(t *testing.T, all map[string]*fake, hosts string, want ...int) {
	t.Helper()
	if diff := cmp.Diff(want, counts(all, strings.Fields(hosts)...)); diff != "" {
		t.Error(diff)
	}
}

// eureka 112.
func TestEureka112FailOver(t *testing.T) {
	for name, how := range map[string]func(r *rig, f *fake){
		"status 500":       func(_ *rig, f *fake) { f.answers(status(http.StatusInternalServerError)) },
		"connection error": func(r *rig, _ *fake) { r.stop("a") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig()
				all := several(t, r, "a", "b")
				how(r, all["a"])
				c := follow(t, eureka.ClientSettings{Servers: inOrder(t, r, "a", "b"), NoPush: true})
				defer c.end()
				c.after(0)
				if n := counts(all, "a", "b"); n[1] != 1 {
					t.Errorf("asked %v times", n)
				}
				all["a"].answers(nil)
				c.after(time.Minute)
				wantCounts(t, all, "a b", 0, 2) // it stays with the one that answered
			})
		})
	}
}

// eureka 113.
func TestEureka113Quarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		all := several(t, r, "a", "b", "c", "d", "e")
		for _, f := range all {
			f.answers(status(http.StatusInternalServerError))
		}
		s := inOrder(t, r, "a", "b", "c", "d", "e")
		c := follow(t, eureka.ClientSettings{Servers: s, NoPush: true, FetchInterval: 30 * time.Second})
		defer c.end()
		c.after(0)
		wantCounts(t, all, "a b c d e", 1, 1, 1, 0, 0)
		if got := c.State().Trouble; !strings.HasPrefix(got, "eureka: no registry has answered") {
			t.Errorf("trouble %q", got)
		}
		c.after(time.Second) // three of five are as many as may be left out, so all have another chance
		wantCounts(t, all, "a b c d e", 1, 1, 1, 0, 0)
	})
}

func TestQuarantineKeepsOneOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		all := several(t, r, "a", "b", "c", "d", "e")
		all["a"].answers(status(http.StatusInternalServerError))
		all["b"].answers(status(http.StatusInternalServerError))
		c := follow(t, eureka.ClientSettings{Servers: inOrder(t, r, "a", "b", "c", "d", "e"), NoPush: true})
		defer c.end()
		c.after(0)
		wantCounts(t, all, "a b c d e", 1, 1, 1, 0, 0)
		all["c"].answers(status(http.StatusInternalServerError))
		c.after(30 * time.Second)
		wantCounts(t, all, "a b c d e", 0, 0, 2, 1, 0) // c had only been kept, so it is chosen once more
	})
}

// eureka 114.
func TestEureka114TheLaterAnswerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		all := several(t, r, "a", "b")
		slow := func(d time.Duration, code int) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { <-time.After(d); w.WriteHeader(code) }
		}
		// The first registration answers from a after 3.5 s; a second one finds a failing
		// in the meantime and has an answer from b after 1 s.
		calls := 0
		all["a"].answersTo("POST", func(w http.ResponseWriter, req *http.Request) {
			calls++
			if calls == 1 {
				slow(3500*time.Millisecond, http.StatusNoContent)(w, req)
				return
			}
			w.WriteHeader(http.StatusInternalServerError)
		})
		all["b"].answersTo("POST", slow(time.Second, http.StatusNoContent))
		s := eureka.RegistrarSettings{Servers: inOrder(t, r, "a", "b"), Instance: own()}
		s.Instance.Lease = eureka.Lease{RenewalInterval: time.Second, Duration: 3 * time.Second}
		all["a"].answersTo("PUT", status(http.StatusInternalServerError))
		all["b"].answersTo("PUT", status(http.StatusOK))
		g := register(t, s)
		defer g.stop()
		after(2900 * time.Millisecond) // heartbeats have gone to b
		if n := counts(all, "b"); n[0] == 0 {
			t.Fatal("b was not asked")
		}
		after(700 * time.Millisecond)
		counts(all, "a", "b")
		after(500 * time.Millisecond) // the next heartbeat begins at a, which answered last
		if n := counts(all, "a"); n[0] == 0 {
			t.Error("the registry of the later answer was not kept")
		}
	})
}

// eureka 115.
func TestEureka115Sessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 20 {
			r := newRig()
			all := several(t, r, "b")
			c := follow(t, eureka.ClientSettings{Servers: inOrder(t, r, "a", "b"), NoPush: true})
			c.after(time.Second)
			all["a"] = newFake()
			r.start(t, "a", all["a"])
			c.after(10*time.Minute - 2*time.Second)
			if n := counts(all, "a"); n[0] != 0 {
				t.Error("another registry was chosen before half of the time")
			}
			c.after(20*time.Minute + 31*time.Second)
			if n := counts(all, "a"); n[0] == 0 {
				t.Error("no registry was chosen anew after one and a half times the time")
			}
			c.end()
		}
	})
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

func TestEureka111Redirects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		all := several(t, r, "a", "b")
		all["b"].put(eureka.Added, up("USERS", "u1"))
		all["a"].answers(redirect("http://b:8761/eureka/apps/"))
		s := r.at("a")
		s.ServiceURLs["defaultZone"] = []string{"http://user:secret@a:8761/eureka/"}
		c := follow(t, eureka.ClientSettings{Servers: s, NoPush: true})
		defer c.end()
		c.after(0)
		c.want(t, "users: u1")
		if auth := all["b"].header().Get("Authorization"); auth != "" {
			t.Error("the other host was given the credentials")
		}
		c.after(time.Minute)
		wantCounts(t, all, "a b", 1, 3) // pinned

		t.Log("the pinned one fails")
		r.stop("b")
		all["a"].answers(nil)
		all["a"].put(eureka.Added, up("USERS", "u2"))
		c.after(time.Minute)
		c.want(t, "users: u2")
	})
}

func TestEureka111RedirectsThatLeadNowhere(t *testing.T) {
	for name, row := range map[string]struct{ to, want string }{
		"no Location":        {"", "redirect without Location"},
		"no registry":        {"http://a:8761/login", "redirect to what is no registry"},
		"no scheme we speak": {"ftp://a/eureka/apps/", "is not an http or https URL"},
		"round in a circle":  {"http://a:8761/eureka/apps/", "more than 10 redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig()
				all := several(t, r, "a")
				all["a"].answers(redirect(row.to))
				c := follow(t, r.poll("a"))
				defer c.end()
				c.after(0)
				if got := c.State().Trouble; !strings.Contains(got, row.want) {
					t.Errorf("trouble %q", got)
				}
				if n := counts(all, "a"); n[0] > 11 {
					t.Errorf("%d hops", n[0])
				}
			})
		})
	}
}

func TestOrderOfServers(t *testing.T) {
	zones := map[string][]string{"r": {"z1", "z2", "z3"}}
	urls := map[string][]string{
		"z1": {"http://a1/eureka", " http://a2/eureka/ ,http://a3/"}, "z2": {"http://b1/eureka/"}, "z3": nil,
		"defaultZone": {"http://d/eureka/"},
	}
	group := func(order []string) string {
		var groups []byte
		for _, url := range order {
			groups = append(groups, url[len("http://")])
		}
		return string(groups)
	}
	for name, row := range map[string]struct {
		settings eureka.ServerSettings
		want     string
	}{
		"eureka 117 118 own zone first":           {eureka.ServerSettings{Region: "r", AvailabilityZones: zones, ServiceURLs: urls}, "aaabd aaadb"},
		"eureka 117 own zone last":                {eureka.ServerSettings{Region: "r", AvailabilityZones: zones, ServiceURLs: urls, OtherZonesFirst: true}, "bdaaa dbaaa"},
		"a region without zones has the default":  {eureka.ServerSettings{ServiceURLs: urls}, "d"},
		"eureka 121 a zone without URLs likewise": {eureka.ServerSettings{Region: "r", AvailabilityZones: map[string][]string{"r": {"z3"}}, ServiceURLs: urls}, "d"},
	} {
		t.Run(name, func(t *testing.T) {
			orders := map[string]bool{}
			for seed := range 50 {
				row.settings.Seed = strconv.Itoa(seed)
				order, err := eureka.Order(row.settings)
				if err != nil || !strings.Contains(" "+row.want+" ", " "+group(order)+" ") {
					t.Fatalf("%q, %v", order, err)
				}
				again, _ := eureka.Order(row.settings)
				if !cmp.Equal(order, again) {
					t.Error("a seed gives several orders")
				}
				orders[strings.Join(order, " ")] = true
			}
			if len(row.want) > 1 && len(orders) < 2 {
				t.Error("every process asks in the same order")
			}
		})
	}
}

func TestEureka118EndpointsAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"https://u:p@host/eureka/":  "https://host/eureka/",
		"http://host:8761/eureka":   "http://host:8761/eureka/",
		" http://host:8761 ":        "http://host:8761/",
		"http://[::1]:8761/eureka/": "http://[::1]:8761/eureka/",
	} {
		order, err := eureka.Order(eureka.ServerSettings{ServiceURLs: map[string][]string{"defaultZone": {text}}})
		if diff := cmp.Diff([]string{want}, order); diff != "" || err != nil {
			t.Errorf("%s: %s %v", text, diff, err)
		}
	}
}

func TestServiceURLsThatAreNone(t *testing.T) {
	for _, text := range []string{"http://u:s3cret@host:port/eureka", "ftp://u:s3cret@host/", "u:s3cret@host/eureka", "http://u:s3cret@/eureka", "http://u:s3cret@h st/"} {
		s := eureka.ServerSettings{ServiceURLs: map[string][]string{"defaultZone": {"http://fine/", text}}}
		_, err := eureka.NewClient(eureka.ClientSettings{Servers: s})
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "service URL 2 of zone defaultZone") {
			t.Errorf("%s: %v", text, err)
		}
		if eureka.CheckServiceURL(text) == nil {
			t.Errorf("%s passes", text)
		}
	}
	if _, err := eureka.NewRegistrar(eureka.RegistrarSettings{Instance: own()}); err == nil || !strings.Contains(err.Error(), "no service URL") {
		t.Errorf("without any: %v", err)
	}
}

// Whatever happens, credentials stay out of log and errors.
func TestC183CredentialsAreNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		s := r.at("r")
		s.ServiceURLs["defaultZone"] = []string{" http://u:p%40s3cret@nobody:8761/eureka , http://u:p%40s3cret@r:8762/eureka/ ", "http://u:p%40s3cret@r:8761/eureka"}
		f.answersTo("POST", status(http.StatusUnauthorized))
		f.answersTo("GET apps/delta", redirect("http://x:s3cret@r:1/eureka/apps/delta"))
		f.put(eureka.Added, up("USERS", "u1"))
		c := follow(t, eureka.ClientSettings{Servers: s})
		g := register(t, eureka.RegistrarSettings{Servers: s})
		c.after(3 * time.Minute)
		g.stop()
		c.end()
		c.want(t, "users: u1")
		if log := r.log.String(); strings.Contains(log, "s3cret") || len(log) < 500 {
			t.Errorf("log:\n%s", log)
		}
		if strings.Contains(c.State().Trouble, "s3cret") {
			t.Error(c.State().Trouble)
		}
	})
}
