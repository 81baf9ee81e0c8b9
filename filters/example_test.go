package filters_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/lb/rest"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// The snippets of docs/writing-filters.md are the declarations of this file.

var tenant = filters.Func("TenantFilter", filters.Pre, 4, func(c *filters.Context) error {
	if c.Request.Header.Get("X-Api-Key") == "" {
		return filters.Refuse(http.StatusUnauthorized, "missing API key") // the error phase answers
	}
	c.Out.Header.Set("X-Tenant", "acme") // what the upstream sees
	return nil
})

func ExampleFunc() {
	fmt.Println(try(filtertest.New(t, "GET /users/1", filtertest.Header("X-Api-Key", "k")), tenant))
	fmt.Println(try(filtertest.New(t, "GET /users/1"), tenant))
	// Output:
	// 200 GET /users/1 for acme
	// 401 missing API key
}

type bannerSettings struct{ Text string }

type bannerFilter struct{ settings bannerSettings }

var banner = filters.Spec{
	Name: "BannerFilter", Phase: filters.Post, Order: 900,
	New: func(decode func(any) error) (filters.Filter, error) {
		s := bannerSettings{Text: "welcome"} // defaults first
		if err := decode(&s); err != nil {
			return nil, err
		}
		return &bannerFilter{s}, nil
	},
}

func (f *bannerFilter) ShouldFilter(c *filters.Context) bool { return c.Response != nil }

func (f *bannerFilter) Run(c *filters.Context) error {
	c.Response.Header.Set("X-Banner", f.settings.Text)
	return nil
}

func ExampleSpec() {
	c := filtertest.New(t, "GET /users/1")
	got := filtertest.Serve(t, c, hello, filtertest.Configured(banner, bannerSettings{Text: "hi"}))
	fmt.Println(got.Header().Get("X-Banner"))
	// Output:
	// hi
}

var maintenance = filters.Func("MaintenanceFilter", filters.Pre, 0, func(c *filters.Context) error {
	header := http.Header{"Retry-After": {"600"}, "Content-Type": {"text/plain; charset=utf-8"}}
	c.Respond(http.StatusServiceUnavailable, header, strings.NewReader("back soon"))
	return nil
})

func ExampleContext_Respond() {
	fmt.Println(try(filtertest.New(t, "GET /users/1"), maintenance))
	// Output:
	// 503 back soon
}

var canary = filters.Func("CanaryFilter", filters.Pre, 6, func(c *filters.Context) error {
	if c.ServiceID == "users" && c.Request.Header.Get("X-Canary") == "true" {
		c.ServiceID = "users-canary"
	}
	return nil
})

func ExampleContext_serviceID() {
	c := filtertest.New(t, "GET /users/1", filtertest.Header("X-Canary", "true"))
	c.ServiceID = "users"
	err := filtertest.Run(t, c, canary)
	fmt.Println(c.ServiceID, err)
	// Output:
	// users-canary <nil>
}

// capitals turns ASCII letters into capitals as they stream by.
type capitals struct{ io.ReadCloser }

func (r capitals) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	copy(p, bytes.ToUpper(p[:n]))
	return n, err
}

var shout = filters.Func("ShoutFilter", filters.Post, 900, func(c *filters.Context) error {
	if c.Response == nil || c.Response.Body == nil || c.Response.Header.Get("Content-Encoding") != "" {
		return nil
	}
	c.Response.Body = capitals{c.Response.Body}
	c.Response.Header.Del("Etag") // named the other bytes
	return nil
})

func ExampleResponse() {
	fmt.Println(try(filtertest.New(t, "GET /users/1"), shout))
	// Output:
	// 200 GET /USERS/1 FOR
}

var user = filters.NewKey[string]("user")

var login = filters.Func("LoginFilter", filters.Pre, 3, func(c *filters.Context) error {
	if name, _, ok := c.Request.BasicAuth(); ok {
		user.Set(c, name)
	}
	return nil
})

var greet = filters.Func("GreetFilter", filters.Post, 900, func(c *filters.Context) error {
	if name, ok := user.Get(c); ok && c.Response != nil {
		c.Response.Header.Set("X-User", name)
	}
	return nil
})

func ExampleKey() {
	c := filtertest.New(t, "GET /users/1")
	c.Request.SetBasicAuth("ann", "secret")
	fmt.Println(filtertest.Serve(t, c, hello, login, greet).Header().Get("X-User"))
	// Output:
	// ann
}

// sessions asks another server about every request.
type sessions struct {
	client *http.Client
	url    string
}

func (s *sessions) ShouldFilter(*filters.Context) bool { return true }

func (s *sessions) Run(c *filters.Context) error {
	r, err := http.NewRequestWithContext(c.Request.Context(), http.MethodGet, s.url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Cookie", c.Request.Header.Get("Cookie"))
	res, err := s.client.Do(r)
	if err != nil {
		return &filters.StatusError{Status: http.StatusServiceUnavailable, Cause: "no session server", Err: err}
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return filters.Refuse(http.StatusUnauthorized, "no session")
	}
	return nil
}

func ExampleInstance() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("session"); err != nil {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	filter := filters.Instance("SessionFilter", filters.Pre, 2, &sessions{server.Client(), server.URL})

	fmt.Println(try(filtertest.New(t, "GET /users/1", filtertest.Header("Cookie", "session=1")), filter))
	fmt.Println(try(filtertest.New(t, "GET /users/1"), filter))
	// Output:
	// 200 GET /users/1 for
	// 401 no session
}

func TestTenantIsRefused(t *testing.T) {
	c := filtertest.New(t, "GET /users/1")
	got := filtertest.Serve(t, c, http.NotFoundHandler(), tenant)
	if got.Code != http.StatusUnauthorized {
		t.Errorf("status %d", got.Code)
	}
}

// hello is the upstream of the examples.
var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s %s for %s", r.Method, r.URL.Path, r.Header.Get("X-Tenant"))
})

// try returns what the client sees of one request.
func try(c *filters.Context, specs ...filters.Spec) string {
	got := filtertest.Serve(t, c, hello, specs...)
	return fmt.Sprintf("%d %s", got.Code, strings.TrimSpace(got.Body.String()))
}

// t lets the examples read like tests.
var t = exampleT{}

type exampleT struct{ testing.TB }

func (exampleT) Helper()                  {}
func (exampleT) Cleanup(func())           {}
func (exampleT) Context() context.Context { return context.Background() }

type account struct{ Blocked bool }

var accounts = filters.Func("AccountFilter", filters.Pre, 6, func(c *filters.Context) error {
	a, err := rest.GetObject[account](c.Request.Context(), rest.New(c.Client()),
		"http://account-service/accounts/{name}", c.Request.Header.Get("X-Account"))
	switch {
	case errors.Is(err, rest.ErrClient) || err == nil && a.Blocked:
		return filters.Refuse(http.StatusForbidden, "no such account")
	case err != nil:
		return &filters.StatusError{Status: http.StatusServiceUnavailable, Cause: "no account service", Err: err}
	}
	return nil
})

func ExampleContext_Client() {
	services := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Host + r.URL.Path {
		case "account-service/accounts/ann":
			fmt.Fprint(w, `{"blocked": false}`)
		case "account-service/accounts/bob":
			fmt.Fprint(w, `{"blocked": true}`)
		default:
			http.NotFound(w, r)
		}
	})
	for _, name := range []string{"ann", "bob", "eve"} {
		c := filtertest.New(t, "GET /users/1", filtertest.Header("X-Account", name), filtertest.Services(services))
		fmt.Println(try(c, accounts))
	}
	fmt.Println(try(filtertest.New(t, "GET /users/1", filtertest.Header("X-Account", "ann")), accounts))
	// Output:
	// 200 GET /users/1 for
	// 403 no such account
	// 403 no such account
	// 503 no account service
}

func country(c *filters.Context) (string, error) {
	return ribboncmd.Do(c.Request.Context(), ribboncmd.Key{Command: "geo"},
		func(ctx context.Context) (string, error) { return lookup(ctx, c.Request.RemoteAddr) },
		func(ctx context.Context, cause *ribboncmd.Error) (string, error) { return "unknown", nil })
}

func lookup(context.Context, string) (string, error) { return "", errors.New("no route to host") }

func Example_command() {
	c := filtertest.New(t, "GET /")
	c.Request = c.Request.WithContext(ribboncmd.NewContext(c.Request.Context(), ribboncmd.New(nil)))
	fmt.Println(country(c))
	// Output:
	// unknown <nil>
}
