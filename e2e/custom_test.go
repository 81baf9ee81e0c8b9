package e2e_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/static"
	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/filters"
)

// customProgram is the environment variable that makes the test binary a gateway, and
// discovered the one that names instances, as in "users=127.0.0.1:80,orders=…".
const (
	customProgram = "E2E_CUSTOM_GATEWAY"
	discovered    = "E2E_DISCOVERED"
)

// runCustom is the main function of a filter author. It does not return.
func runCustom() {
	gozer.Main(
		gozer.WithFilters(customFilters()...),
		gozer.WithFallback("caused", fallback.Func(tellCause)),
		gozer.WithDiscovery(static.New(instances(os.Getenv(discovered)))),
		gozer.WithLocal(func(r *mux.Router) {
			r.PathPrefix("/local").HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, "local "+r.Method+" "+r.URL.RequestURI())
			})
		}),
	)
}

// on is a filter that runs for requests with the field "X-Test: name".
type on struct {
	name string
	run  func(*filters.Context) error
}

func (f on) ShouldFilter(c *filters.Context) bool { return c.Request.Header.Get("X-Test") == f.name }
func (f on) Run(c *filters.Context) error         { return f.run(c) }

func customFilters() []filters.Spec {
	when := func(phase filters.Phase, order int, test string, run func(*filters.Context) error) filters.Spec {
		return filters.Instance(test, phase, order, on{test, run})
	}
	fail := func(*filters.Context) error { return errors.New("broken on purpose") }
	return []filters.Spec{
		when(filters.Pre, 6, "override-query", func(c *filters.Context) error {
			c.Out.Query = "key=overridden"
			return nil
		}),
		when(filters.Pre, 6, "add-parameter", func(c *filters.Context) error {
			c.Out.Query += "&added=1"
			return nil
		}),
		when(filters.Pre, 6, "rewrite", func(c *filters.Context) error {
			c.Out.Path = regexp.MustCompile(`^/x/(.*)`).ReplaceAllString(c.Out.Path, "/y/$1")
			return nil
		}),
		when(filters.Pre, 6, "deny-admin", func(c *filters.Context) error {
			parameters, err := url.ParseQuery(c.Out.Query)
			if err != nil {
				return filters.Refuse(http.StatusBadRequest, "unclear query")
			}
			if parameters.Has("admin") {
				return filters.Refuse(http.StatusForbidden, "admin")
			}
			return nil
		}),
		when(filters.Pre, 6, "identity", func(c *filters.Context) error {
			c.Out.Header.Set("X-User", "u1")
			return nil
		}),
		when(filters.Pre, 6, "ignore-header", func(c *filters.Context) error {
			c.IgnoreHeaders("X-Ignored")
			return nil
		}),
		when(filters.Pre, 6, "teapot", func(*filters.Context) error {
			return filters.Refuse(http.StatusTeapot, "teapot")
		}),
		when(filters.Pre, 4, "respond", func(c *filters.Context) error {
			c.Respond(http.StatusAccepted, http.Header{"X-Own": {"1"}}, strings.NewReader("own answer"))
			return nil
		}),
		when(filters.Pre, 1, "fail-pre", fail),
		when(filters.Route, 1, "fail-route", fail),
		when(filters.Post, 1, "fail-post", fail),
		when(filters.Post, 1, "replace-body", func(c *filters.Context) error {
			const text = "replaced"
			c.Response.Header.Del("Content-Encoding")
			c.Response.Body, c.Response.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			return nil
		}),
		when(filters.Post, 999, "application-context", func(c *filters.Context) error {
			c.Response.Header.Set("X-Application-Context", "gateway")
			return nil
		}),
		filters.Func("Guard", filters.Pre, 6, func(c *filters.Context) error {
			if c.Route != nil && c.Route.ID == "guarded" {
				return filters.Refuse(http.StatusForbidden, "guarded")
			}
			return nil
		}),
	}
}

// tellCause is a fallback that answers with what it was told.
func tellCause(_ context.Context, service string, cause error) (*http.Response, error) {
	body := service + ": " + cause.Error()
	return &http.Response{
		StatusCode:    http.StatusAccepted,
		Header:        http.Header{"Content-Type": {"text/plain"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}, nil
}

func instances(list string) map[string][]discovery.Instance {
	found := map[string][]discovery.Instance{}
	for entry := range strings.SplitSeq(list, ",") {
		service, address, _ := strings.Cut(entry, "=")
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			continue
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			continue
		}
		found[service] = append(found[service], discovery.Instance{Service: service, Host: host, Port: number})
	}
	return found
}
