package eureka_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/internal/testlog"
)

// fake is a registry that speaks the wire format, does as it is told and notes what it
// is asked.
type fake struct {
	mu        sync.Mutex
	instances map[string]*eureka.Instance // by APP/id
	changes   []*eureka.Instance
	hash      string                      // instead of the true one
	asked     []string                    // method and path with query, without the root
	headers   []http.Header               // of what was asked
	instead   http.HandlerFunc            // answers everything; nil
	on        map[string]http.HandlerFunc // answers by method and path
}

func newFake() *fake {
	return &fake{instances: map[string]*eureka.Instance{}, on: map[string]http.HandlerFunc{}}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// says answers 200 with a body of a type.
func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}
}

// hangs answers when the client has given up.
func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// up makes an instance that runs.
func up(app, id string) *eureka.Instance {
	return &eureka.Instance{
		ID: id, App: app, HostName: id, IPAddr: "10.0.0.1", VIPAddress: strings.ToLower(app), Status: eureka.Up, CountryID: 1,
		Port: eureka.Port{Number: 80, Enabled: true}, DataCenter: eureka.DataCenter{Name: eureka.MyOwn},
	}
}

func (f *fake) put(action eureka.Action, instances ...*eureka.Instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range instances {
		i.Action = action
		key := i.App + "/" + i.Identity()
		if f.instances[key] = i; action == eureka.Deleted {
			delete(f.instances, key)
		}
		f.changes = append(f.changes, i)
	}
}

// answers makes the registry answer everything in one way; nil ends that.
func (f *fake) answers(how http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.instead = how
}

// answersTo makes the registry answer what begins with a method and a path in one way.
func (f *fake) answersTo(what string, how http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.on[what] = how; how == nil {
		delete(f.on, what)
	}
}

// take gives what was asked since the last time.
func (f *fake) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked, f.headers = nil, nil
	return asked
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/eureka/")
	f.mu.Lock()
	what := r.Method + " " + path
	if r.URL.RawQuery != "" {
		what += "?" + r.URL.RawQuery
	}
	f.asked, f.headers = append(f.asked, what), append(f.headers, r.Header.Clone())
	instead, on := f.instead, http.HandlerFunc(nil)
	for prefix, how := range f.on {
		if strings.HasPrefix(what, prefix) {
			on = how
		}
	}
	f.mu.Unlock()
	switch {
	case on != nil:
		on(w, r)
	case instead != nil:
		instead(w, r)
	case r.Method == http.MethodGet:
		f.get(w, path)
	default:
		f.write(w, r, path)
	}
}

func (f *fake) get(w http.ResponseWriter, path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := &eureka.Applications{VersionsDelta: 1}
	for _, key := range slices.Sorted(keys(f.instances)) {
		list.Applications = append(list.Applications, eureka.Application{Name: f.instances[key].App, Instances: []*eureka.Instance{f.instances[key]}})
	}
	list.HashCode = list.Hash()
	if f.hash != "" {
		list.HashCode = f.hash
	}
	switch path {
	case "apps/":
	case "apps/delta":
		list.VersionsDelta, list.Applications = 7, nil
		for _, i := range f.changes {
			list.Applications = append(list.Applications, eureka.Application{Name: i.App, Instances: []*eureka.Instance{i}})
		}
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(eureka.Encoder{}.AppendApplications(nil, list))
}

func keys(m map[string]*eureka.Instance) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (f *fake) write(w http.ResponseWriter, r *http.Request, path string) {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i], _ = url.PathUnescape(parts[i])
	}
	if r.Method == http.MethodPost {
		i, err := eureka.Decoder{}.Instance(r.Body)
		if err != nil || i.App != parts[1] {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		f.put(eureka.Added, i)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	key := strings.Join(parts[1:3], "/")
	f.mu.Lock()
	known := f.instances[key]
	f.mu.Unlock()
	switch {
	case known == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete && len(parts) == 3:
		f.put(eureka.Deleted, known)
	case r.Method == http.MethodPut && len(parts) == 4:
		next := known.Clone()
		next.Status, _ = eureka.ParseStatus(r.URL.Query().Get("value"))
		f.put(eureka.Modified, next)
	}
}

// registered is the gateway's instance with an id, nil if the registry has none.
func (f *fake) registered(id string) *eureka.Instance {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.instances["GATEWAY/"+id]
}

// header gives what the first request since the last take was sent with.
func (f *fake) header() http.Header {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.headers[0]
}

// rig is a network with registries and what is heard of them.
type rig struct {
	*memhttp.Network
	log     testlog.Buffer
	servers map[string]*memhttp.Server
}

func newRig() *rig { return &rig{Network: memhttp.NewNetwork(), servers: map[string]*memhttp.Server{}} }

// start makes a registry answer at a host.
func (r *rig) start(t *testing.T, host string, f http.Handler) {
	t.Helper()
	r.servers[host] = r.Serve(t, host+":8761", f)
}

func (r *rig) stop(host string) { r.servers[host].Close() }

// at are the settings for registries on hosts, in the order of their names.
func (r *rig) at(hosts ...string) eureka.ServerSettings {
	var urls []string
	for _, host := range hosts {
		urls = append(urls, "http://"+host+":8761/eureka/")
	}
	return eureka.ServerSettings{
		ServiceURLs: map[string][]string{"defaultZone": urls}, Dial: r.Dial,
		Logger: slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// following is a client at work.
type following struct {
	*eureka.Client
	updates chan discovery.Update
	latest  discovery.Update
	end     func()
}

// follow starts a client; it must be ended.
func follow(t *testing.T, s eureka.ClientSettings) *following {
	t.Helper()
	c, err := eureka.NewClient(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f := &following{Client: c, updates: make(chan discovery.Update)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := c.Run(ctx, f.updates); err != nil {
			t.Error(err)
		}
	}()
	f.end = func() { cancel(); <-ended }
	return f
}

// after lets time pass and takes the updates that come.
func (f *following) after(d time.Duration) {
	end := time.After(d)
	for {
		select {
		case f.latest = <-f.updates:
			continue
		case <-end:
		}
		synctest.Wait()
		select {
		case f.latest = <-f.updates:
		default:
		}
		return
	}
}

// want checks the ids of the instances by service, as "users: a b".
func (f *following) want(t *testing.T, services ...string) {
	t.Helper()
	var got []string
	for service, instances := range f.latest {
		ids := []string{service + ":"}
		for _, i := range instances {
			ids = append(ids, i.ID)
		}
		slices.Sort(ids[1:])
		got = append(got, strings.Join(ids, " "))
	}
	slices.Sort(got)
	if diff := cmp.Diff(services, got); diff != "" {
		t.Error(diff)
	}
}

func wantAsked(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.take()); diff != "" {
		t.Error(diff)
	}
}

func wantLogged(t *testing.T, r *rig, text string) {
	t.Helper()
	if !strings.Contains(r.log.String(), text) {
		t.Errorf("%q is not in the log:\n%s", text, r.log.String())
	}
}
