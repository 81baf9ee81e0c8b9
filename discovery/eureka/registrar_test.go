package eureka_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// own is the instance of this process.
func own() *eureka.Instance {
	i := up("GATEWAY", "g1")
	i.Status = eureka.Starting
	return i
}

// registering is a registrar at work.
type registering struct {
	*eureka.Registrar
	stop func()
}

// register starts a registrar; it must be stopped.
func register(t *testing.T, s eureka.RegistrarSettings) *registering {
	t.Helper()
	if s.Instance == nil {
		s.Instance = own()
	}
	r, err := eureka.NewRegistrar(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	return &registering{r, func() { cancel(); <-ended }}
}

func (r *rig) registrar(hosts ...string) eureka.RegistrarSettings {
	return eureka.RegistrarSettings{Servers: r.at(hosts...)}
}

// after lets time pass.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// methods keeps the methods of what was asked.
func methods(asked []string) (all []string) {
	for _, one := range asked {
		method, _, _ := strings.Cut(one, " ")
		all = append(all, method)
	}
	return all
}

func wantMethods(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, methods(f.take())); diff != "" {
		t.Error(diff)
	}
}

func wantStatus(t *testing.T, f *fake, want eureka.Status) {
	t.Helper()
	i := f.registered("g1")
	if i == nil || i.Status != want {
		t.Errorf("registered is %+v, want it %v", i, want)
	}
}

func TestEureka100Heartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		g := register(t, r.registrar("r"))
		defer g.stop()
		after(0)
		wantAsked(t, f, "POST apps/GATEWAY")
		after(60 * time.Second)
		dirty := "&status=STARTING"
		asked := f.take()
		if len(asked) != 2 || !strings.HasPrefix(asked[0], "PUT apps/GATEWAY/g1?lastDirtyTimestamp=") || !strings.HasSuffix(asked[0], dirty) {
			t.Errorf("asked %q", asked)
		}

		t.Log("a registry that has forgotten is told again")
		f.put(eureka.Deleted, f.registered("g1"))
		after(30 * time.Second)
		wantMethods(t, f, "PUT", "POST")
		after(30 * time.Second)
		wantMethods(t, f, "PUT")
	})
}

// However the registry says that it does not know the instance, one registration
// follows; whatever else goes wrong, heartbeats go on.
func TestC179UnknownToTheRegistry(t *testing.T) {
	for name, row := range map[string]struct {
		how  http.HandlerFunc
		want []string
	}{
		"404": {status(http.StatusNotFound), []string{"PUT", "POST"}},
		"eureka 110 404 with HTML": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<html/>"))
		}, []string{"PUT", "POST"}},
		"404 with JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"a":`))
		}, []string{"PUT", "POST"}},
		"eureka 109 200 with HTML":    {says("text/html", "<html/>"), []string{"PUT"}},
		"eureka 110 200 with a body":  {says("application/json", encode(eureka.Encoder{}, own())), []string{"PUT"}},
		"500, as often as one may":    {status(http.StatusInternalServerError), []string{"PUT"}},
		"401":                         {status(http.StatusUnauthorized), []string{"PUT"}},
		"no answer within a time-out": {hangs, []string{"PUT"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				g := register(t, r.registrar("r"))
				defer g.stop()
				after(time.Second)
				f.take()
				f.answersTo("PUT", row.how)
				after(30*time.Second + 20*time.Second) // with the time that a time-out takes
				got := methods(f.take())
				if len(got) > 1 && got[0] == got[1] { // the server that had been kept, then chosen again
					got = got[1:]
				}
				if diff := cmp.Diff(row.want, got); diff != "" {
					t.Error(diff)
				}
				f.answersTo("PUT", nil)
				after(time.Minute)
				f.take()
				after(30 * time.Second)
				wantMethods(t, f, "PUT")
			})
		})
	}
}

func TestRegistrationIsTriedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		g := register(t, r.registrar("r"))
		defer g.stop()
		after(5 * time.Second)
		if g.Registered() {
			t.Error("registered without a registry")
		}
		r.start(t, "r", f)
		after(4 * time.Second)
		wantStatus(t, f, eureka.Starting)
		if !g.Registered() {
			t.Error("not registered")
		}
		wantLogged(t, r, "not registered, will go on trying")
	})
}

// eureka 101.
func TestEureka101ChangesAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		g := register(t, r.registrar("r"))
		after(time.Second)
		g.SetStatus(eureka.Up)
		after(0)
		wantStatus(t, f, eureka.Up)
		g.AddMetadata(map[string]string{"k": "v"})
		g.AddMetadata(map[string]string{"k": "v"}) // says nothing new
		after(30 * time.Second)
		if got := f.registered("g1").Metadata["k"]; got != "v" {
			t.Errorf("metadata %q", got)
		}
		g.stop()

		t.Log("without sending at once")
		s := r.registrar("r")
		s.ChangesWait = true
		g = register(t, s)
		defer g.stop()
		after(time.Second)
		g.SetStatus(eureka.Down)
		after(10 * time.Second)
		wantStatus(t, f, eureka.Starting)
		after(20 * time.Second)
		wantStatus(t, f, eureka.Down)
	})
}

// eureka 102.
func TestEureka102OnDemandIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		g := register(t, r.registrar("r"))
		defer g.stop()
		after(time.Second)
		f.take()
		g.AddMetadata(map[string]string{"k": "v"})
		var got []bool
		for range 3 {
			got = append(got, g.Replicate())
			after(5 * time.Millisecond)
		}
		if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
			t.Error(diff)
		}
		wantMethods(t, f, "POST")
		after(15 * time.Second)
		if !g.Replicate() || g.Replicate() {
			t.Error("after 15 seconds there is not one more")
		}
	})
}

// eureka 103.
func TestEureka103OnDemandMovesThePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		var asked atomic.Int64
		s := r.registrar("r")
		s.Health = func(context.Context, eureka.Status) (eureka.Status, error) { asked.Add(1); return eureka.Up, nil }
		g := register(t, s)
		defer g.stop()
		after(20 * time.Second)
		g.Replicate()
		after(0)
		if asked.Load() != 2 {
			t.Fatalf("health asked for %d times", asked.Load())
		}
		after(29 * time.Second)
		if asked.Load() != 2 {
			t.Errorf("the period ran out as if nobody had asked: %d", asked.Load())
		}
		after(time.Second)
		if asked.Load() != 3 {
			t.Errorf("health asked for %d times", asked.Load())
		}
	})
}

func TestEureka104Health(t *testing.T) {
	for _, before := range []eureka.Status{eureka.Starting, eureka.OutOfService, eureka.Down} {
		t.Run("lifts "+before.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				s := r.registrar("r")
				s.Instance = own()
				s.Instance.Status = before
				s.Health = func(_ context.Context, current eureka.Status) (eureka.Status, error) {
					if time.Now().Second()%60 < 10 {
						return current, nil
					}
					return eureka.Up, nil
				}
				g := register(t, s)
				defer g.stop()
				after(time.Second)
				wantStatus(t, f, before)
				after(30 * time.Second)
				wantStatus(t, f, eureka.Up)
			})
		})
	}
	t.Run("an error means down", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, f := newRig(), newFake()
			r.start(t, "r", f)
			s := r.registrar("r")
			s.Health = func(context.Context, eureka.Status) (eureka.Status, error) { return eureka.Up, errors.New("disk full") }
			g := register(t, s)
			defer g.stop()
			after(time.Second)
			wantStatus(t, f, eureka.Down)
		})
	})
}

func TestEureka105Shutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		s := r.registrar("r")
		s.Health = func(context.Context, eureka.Status) (eureka.Status, error) { return eureka.Up, nil }
		g := register(t, s)
		after(time.Second)
		f.take()
		if err := g.OutOfService(t.Context()); err != nil {
			t.Error(err)
		}
		wantStatus(t, f, eureka.OutOfService)
		after(40 * time.Second)
		wantStatus(t, f, eureka.OutOfService) // whatever the health says
		g.stop()
		if err := g.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		if asked := methods(f.take()); asked[0] != "PUT" || asked[len(asked)-1] != "DELETE" {
			t.Errorf("asked %q", asked)
		}
		if f.registered("g1") != nil {
			t.Error("still registered")
		}
	})
}

func TestEureka105ShutdownWithoutCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		s := r.registrar("r")
		s.StayRegistered = true
		g := register(t, s)
		after(time.Second)
		f.take()
		if err := g.OutOfService(t.Context()); err != nil {
			t.Error(err)
		}
		g.stop()
		if err := g.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		wantAsked(t, f)
	})
}

func TestShutdownBeforeAnyRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		g := register(t, r.registrar("r"))
		after(time.Second)
		start := time.Now()
		if err := errors.Join(g.OutOfService(t.Context()), g.Cancel(t.Context())); err != nil || time.Since(start) > 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		g.stop()
	})
}

// A change that is made while a registration is on its way is not lost.
func TestChangeDuringRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		f.answersTo("POST", func(w http.ResponseWriter, req *http.Request) {
			<-time.After(5 * time.Second)
			f.write(w, req, "apps/GATEWAY")
		})
		s := r.registrar("r")
		s.ChangesWait = true
		g := register(t, s)
		defer g.stop()
		after(time.Second)
		g.SetStatus(eureka.Up)
		after(5 * time.Second)
		wantStatus(t, f, eureka.Starting)
		after(40 * time.Second)
		wantStatus(t, f, eureka.Up)
	})
}

func TestOverrides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		g := register(t, r.registrar("r"))
		defer g.stop()
		after(time.Second)
		if err := g.Override(t.Context(), eureka.OutOfService); err != nil {
			t.Error(err)
		}
		wantStatus(t, f, eureka.OutOfService)
		f.take()
		if err := g.ClearOverride(t.Context(), eureka.Up); err != nil {
			t.Error(err)
		}
		if asked := f.take(); len(asked) != 1 || !strings.HasPrefix(asked[0], "DELETE apps/GATEWAY/g1/status?") || !strings.HasSuffix(asked[0], "&value=UP") {
			t.Errorf("asked %q", asked)
		}
		f.put(eureka.Deleted, f.registered("g1"))
		if err := g.Override(t.Context(), eureka.Down); err == nil {
			t.Error("an instance that is unknown was overridden")
		}
	})
}

func TestEureka24C181OddIDs(t *testing.T) {
	for _, id := range []string{"test#1.[3.?]!", "host name:svc/é%2F#1:8080", "..", "a+b&c=d;e"} {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				s := r.registrar("r")
				s.Instance = own()
				s.Instance.ID = id
				g := register(t, s)
				after(31 * time.Second)
				if err := g.OutOfService(t.Context()); err != nil || f.registered(id).Status != eureka.OutOfService {
					t.Error(err)
				}
				g.stop()
				if err := g.Cancel(t.Context()); err != nil || f.registered(id) != nil {
					t.Error("not cancelled", err)
				}
				wantMethods(t, f, "POST", "PUT", "PUT", "DELETE")
			})
		})
	}
}
