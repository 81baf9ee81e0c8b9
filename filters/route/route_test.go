package route_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/filters"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/route"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/routing"
)

// wire is a transport that keeps the request and answers 200.
type wire struct {
	request *http.Request
	target  string
	body    string
	err     error
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.request, w.target = r, r.URL.RequestURI()
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		w.body = string(b)
	}
	if w.err != nil {
		return nil, w.err
	}
	rec := httptest.NewRecorder()
	rec.WriteString("answer") //nolint:errcheck // into memory
	return rec.Result(), nil
}

func target(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSimpleHostSendsExactBytes(t *testing.T) {
	tests := []struct{ name, request, url, path, want string }{
		{"zuul 91 trailing slash", "GET /self/trailing-slash/", "http://up:81", "/trailing-slash/", "/trailing-slash/"},
		{"C001 encoded slash", "GET /f/a%2Fb", "http://up", "/a%2Fb", "/a%2Fb"},
		{"C002 double encoding", "GET /x", "http://up", "/x%252F%252Fy%2525", "/x%252F%252Fy%2525"},
		{"C009 nothing left", "GET /api?x=1", "http://up", "", "/?x=1"},
		{"C009 nothing left of a base path", "GET /api?x=1", "http://up/base", "", "/base?x=1"},
		{"C010 doubled slashes", "GET /api", "http://up/base/", "//k//l/", "/base//k//l/"},
		{"C010 doubled slashes at the start", "GET /api", "http://up", "//k//l/", "//k//l/"},
		{"C019 lone question mark", "GET /x?", "http://up", "/x", "/x?"},
		{"C020 order and encoding of a query", "GET /x?b=2&a=1&b=1&a=%7e&c[]=1&e=a+b", "http://up", "/x", "/x?b=2&a=1&b=1&a=%7e&c[]=1&e=a+b"},
		{"C021 plus", "GET /x?q=name%3At%2BState%3AF&z=%26%3D", "http://up", "/x", "/x?q=name%3At%2BState%3AF&z=%26%3D"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &wire{}
			c := filtertest.New(t, tt.request)
			c.Out.URL, c.Out.Path = target(t, tt.url), tt.path
			if err := filtertest.Run(t, c, route.SimpleHostRouting(route.SimpleHostSettings{Transport: w})); err != nil {
				t.Fatal(err)
			}
			if w.target != tt.want {
				t.Errorf("request target %q, want %q", w.target, tt.want)
			}
			if w.request.URL.Host != c.Out.URL.Host {
				t.Errorf("sent to %q, want %q", w.request.URL.Host, c.Out.URL.Host)
			}
		})
	}
}

func TestRequestFields(t *testing.T) {
	w := &wire{}
	c := filtertest.New(t, "DELETE /x", filtertest.Body("why"), filtertest.Header("Cookie", "secret"), filtertest.Header("Authorization", "client's"))
	c.Out.URL = target(t, "http://up")
	c.IgnoreHeaders("cookie", "authorization")
	c.Out.Header.Set("Authorization", "gateway's")
	c.Out.Host = "public.example"
	if err := filtertest.Run(t, c, route.SimpleHostRouting(route.SimpleHostSettings{Transport: w})); err != nil {
		t.Fatal(err)
	}
	r := w.request
	if r.Method != http.MethodDelete || w.body != "why" || r.ContentLength != 3 || r.Host != "public.example" {
		t.Errorf("sent %s %q of %d bytes to %s", r.Method, w.body, r.ContentLength, r.Host)
	}
	if r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "gateway's" {
		t.Errorf("sent %v, want no client's Cookie and the gateway's Authorization", r.Header)
	}
	if agent := r.Header["User-Agent"]; len(agent) != 1 || agent[0] != "" {
		t.Errorf("User-Agent %q, want none sent", agent)
	}
}

func TestForceOriginalQuery(t *testing.T) {
	for force, want := range map[bool]string{false: "/x?changed", true: "/x?q=%7B%22a%22:1%7D&b"} {
		w := &wire{}
		c := filtertest.New(t, "GET /x?q=%7B%22a%22:1%7D&b")
		c.Out.URL, c.Out.Query = target(t, "http://up"), "changed"
		if err := filtertest.Run(t, c, route.SimpleHostRouting(route.SimpleHostSettings{Transport: w, ForceOriginalQuery: force})); err != nil {
			t.Fatal(err)
		}
		if w.target != want {
			t.Errorf("zuul 89 force %v: sent %q, want %q", force, w.target, want)
		}
	}
}

func TestSimpleHostFailure(t *testing.T) {
	c := filtertest.New(t, "GET /x")
	c.Out.URL = target(t, "http://up:81")
	err := filtertest.Run(t, c, route.SimpleHostRouting(route.SimpleHostSettings{Transport: &wire{err: syscall.EHOSTUNREACH}}))
	failure, ok := errors.AsType[*lb.Error](err)
	if !ok || failure.Service != "up:81" || failure.Kind != lb.NoRouteToHost {
		t.Fatalf("error %v, want one of no route to up:81", err)
	}
}

func TestRoutingFiltersStandAside(t *testing.T) {
	w := &wire{}
	tests := []struct {
		name string
		set  func(c *filters.Context)
	}{
		{"answered already", func(c *filters.Context) {
			c.Out.URL, c.ServiceID, c.ForwardTo = target(t, "http://up"), "users", "/local"
			c.Respond(http.StatusTeapot, nil, nil)
		}},
		{"nothing decided", func(*filters.Context) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := filtertest.New(t, "GET /x")
			tt.set(c)
			specs := []filters.Spec{route.RibbonRouting(known{}), route.SimpleHostRouting(route.SimpleHostSettings{Transport: w}), route.SendForward(mux.NewRouter())}
			if err := filtertest.Run(t, c, specs...); err != nil {
				t.Fatal(err)
			}
			if len(c.Executions()) != 0 {
				t.Errorf("ran %v, want nothing", c.Executions())
			}
		})
	}
}

// command gives a call more time than any should take.
func command(service string) *ribboncmd.Command {
	s := ribboncmd.DefaultSettings()
	s.Timeout = time.Minute
	return ribboncmd.New(nil).Command(service, s, nil)
}

type known map[string]*route.Service

func (k known) Service(id string) *route.Service { return k[id] }

func users(t *testing.T, transport http.RoundTripper) known {
	t.Helper()
	b := lb.NewBalancer("users", lb.BalancerSettings{})
	b.SetServers([]lb.Server{{Host: "one", Port: 8080}})
	return known{"users": {
		Command: command("users"),
		Balance: &lb.Command{Balancer: b, Transport: transport, Retry: lb.DefaultRetryPolicy()},
	}}
}

func TestRibbonRouting(t *testing.T) {
	w := &wire{}
	c := filtertest.New(t, "GET /users/a%2Fb?x")
	c.ServiceID, c.Out.Path = "users", "/a%2Fb"
	if err := filtertest.Run(t, c, route.RibbonRouting(users(t, w))); err != nil {
		t.Fatal(err)
	}
	if w.target != "/a%2Fb?x" || w.request.URL.Host != "one:8080" {
		t.Errorf("sent %q to %q", w.target, w.request.URL.Host)
	}
	body, err := io.ReadAll(c.Response.Body)
	if err != nil || string(body) != "answer" {
		t.Errorf("answer %q, %v", body, err)
	}
	c.Release()
}

func TestRibbonRoutingWithoutService(t *testing.T) {
	c := filtertest.New(t, "GET /x")
	c.ServiceID = "made-up"
	if err := filtertest.Run(t, c, route.RibbonRouting(known{})); !errors.Is(err, lb.ErrNoServer) {
		t.Fatalf("error %v, want no server", err)
	}
}

func TestSendForward(t *testing.T) {
	local := mux.NewRouter().UseEncodedPath().SkipClean(true)
	local.PathPrefix("/hello").Methods(http.MethodGet).HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.EscapedPath()+"?"+r.URL.RawQuery)
	})
	local.HandleFunc("/tenant", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("X-Tenant")) })
	local.HandleFunc("/silent", func(http.ResponseWriter, *http.Request) {})
	tests := []struct {
		name, request, forward, body string
		status                       int
	}{
		{"zuul 16 to a local handler", "GET /x?a=1", "/hello/a%2Fb", "/hello/a%2Fb?a=1", http.StatusOK},
		{"what pre filters have set", "GET /x", "/tenant", "acme", http.StatusOK},
		{"a handler that writes nothing", "GET /x", "/silent", "", http.StatusOK},
		{"zuul 141 no handler", "GET /x", "/nowhere", "", http.StatusNotFound},
		{"wrong method", "POST /x", "/hello", "", http.StatusMethodNotAllowed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := filtertest.New(t, tt.request, filtertest.Header("X-Tenant", "forged"))
			c.Out.Header.Set("X-Tenant", "acme")
			c.ForwardTo = tt.forward
			err := filtertest.Run(t, c, route.SendForward(local))
			status := c.Status()
			if refused, ok := errors.AsType[*filters.StatusError](err); ok {
				status = refused.Status
			}
			if status != tt.status {
				t.Fatalf("status %d, want %d (%v)", status, tt.status, err)
			}
			if got := filtertest.Client(c).Body.String(); !strings.EqualFold(got, tt.body) {
				t.Errorf("body %q, want %q", got, tt.body)
			}
		})
	}
}

// broken is a client's body that ends too early.
type broken struct{ io.Reader }

func (broken) Close() error { return nil }

func TestBrokenUploadIsTheClientsFailure(t *testing.T) {
	toService := func(c *filters.Context) { c.ServiceID = "users" }
	toURL := func(c *filters.Context) { c.Out.URL = target(t, "http://up") }
	tooSlow := &http1.Error{Status: http.StatusRequestTimeout, Reason: "request body too slow"}
	tests := []struct {
		name   string
		target func(*filters.Context)
		fault  error
		limit  int64
		status int
	}{
		{"service route", toService, io.ErrUnexpectedEOF, 0, http.StatusBadRequest},
		{"URL route", toURL, io.ErrUnexpectedEOF, 0, http.StatusBadRequest},
		{"C229 service route, too slow", toService, tooSlow, 0, http.StatusRequestTimeout},
		{"C229 URL route, too slow", toURL, tooSlow, 0, http.StatusRequestTimeout},
		{"service route, too long", toService, io.ErrUnexpectedEOF, 2, http.StatusRequestEntityTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", nil)
			r.Body, r.ContentLength = broken{io.MultiReader(strings.NewReader("half"), iotest.ErrReader(tt.fault))}, -1
			c := filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/x", Clean: "/x"}, time.Now())
			tt.target(c)
			if tt.limit > 0 {
				if err := c.LimitBody(tt.limit); err != nil {
					t.Fatal(err)
				}
			}
			services := users(t, &wire{})
			err := filtertest.Run(t, c, route.RibbonRouting(services), route.SimpleHostRouting(route.SimpleHostSettings{Transport: &wire{}}))
			if got := (errorfilter.Mapping{}).Answer(c).Status; got != tt.status {
				t.Errorf("status %d, want %d (%v)", got, tt.status, err)
			}
			if health := services["users"].Command.Snapshot(); health.Events[ribboncmd.EventFailure] != 0 {
				t.Errorf("the service was blamed: %v", health.Events)
			}
		})
	}
}
