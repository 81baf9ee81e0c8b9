package filters_test

import (
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/routing"
)

func enableDebug() filters.Spec {
	return filters.Func("DebugFilter", filters.Pre, 1, func(c *filters.Context) error { c.EnableDebug(); return nil })
}

func TestDebugLines(t *testing.T) {
	tenant := filters.NewKey[string]("tenant")
	decorate := filters.Func("PreDecorationFilter", filters.Pre, 5, func(c *filters.Context) error {
		c.Route = &routing.Route{ID: "users"}
		c.ServiceID, c.Out.Path, c.Retryable = "users", "/1", true
		tenant.Set(c, "secret")
		return nil
	})
	respond := func(status int) func(*filters.Context) error {
		return func(c *filters.Context) error { c.Respond(status, nil, nil); return nil }
	}
	tests := map[string]struct {
		specs []filters.Spec
		want  []string
	}{
		"zuul 1.5 every kind of line": {
			[]filters.Spec{
				filters.Func("Before", filters.Pre, 0, nothing), enableDebug(), decorate,
				takes("RibbonRoutingFilter", filters.Route, 10, 23*time.Millisecond, nil),
				filters.Func("Answer", filters.Route, 11, respond(http.StatusOK)),
				filters.Instance("Never", filters.Route, 500, never{}),
				filters.Func("Change", filters.Post, 1, respond(http.StatusTeapot)),
			},
			[]string{
				"Filter pre 5 PreDecorationFilter",
				"Filter {PreDecorationFilter TYPE:pre ORDER:5} Execution time = 0ms",
				"{PreDecorationFilter} changed requestURI=/1",
				"{PreDecorationFilter} added serviceId=users",
				"{PreDecorationFilter} added proxy=users",
				"{PreDecorationFilter} added retryable=true",
				"{PreDecorationFilter} added tenant=(set)",
				"Invoking {route} type filters",
				"Filter route 10 RibbonRoutingFilter",
				"Filter {RibbonRoutingFilter TYPE:route ORDER:10} Execution time = 23ms",
				"Filter route 11 Answer",
				"Filter {Answer TYPE:route ORDER:11} Execution time = 0ms",
				"{Answer} added responseStatusCode=200",
				"Filter route 500 Never",
				"Invoking {post} type filters",
				"Filter post 1 Change",
				"Filter {Change TYPE:post ORDER:1} Execution time = 0ms",
				"{Change} changed responseStatusCode=418",
			},
		},
		"failure": {
			[]filters.Spec{enableDebug(), takes("Broken", filters.Route, 10, 0, errBoom)},
			[]string{
				"Invoking {route} type filters",
				"Filter route 10 Broken",
				"Running Filter failed Broken type:route order:10 boom",
				"Invoking {error} type filters",
				"Invoking {post} type filters",
			},
		},
		"secrets of URLs and queries stay out": {
			[]filters.Spec{enableDebug(), filters.Func("F", filters.Pre, 2, func(c *filters.Context) error {
				c.Out.URL = &url.URL{Scheme: "http", User: url.UserPassword("u", "p"), Host: "h.test"}
				c.Out.Query = "token=1&b"
				c.ForwardTo = "/local"
				return nil
			})},
			[]string{
				"Filter pre 2 F",
				"Filter {F TYPE:pre ORDER:2} Execution time = 0ms",
				"{F} added requestQuery=token&b",
				"{F} added forward.to=/local",
				"{F} added routeHost=http://u:xxxxx@h.test",
				"Invoking {route} type filters",
				"Invoking {post} type filters",
			},
		},
		"not debugged": {[]filters.Spec{decorate}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := filtertest.New(t, "GET /users/1")
				_ = filtertest.Run(t, c, test.specs...)
				if diff := cmp.Diff(test.want, c.DebugLines()); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				if c.Debugging() != (test.want != nil) {
					t.Errorf("debugging is %v", c.Debugging())
				}
			})
		})
	}
}

func TestDisabledFilterIsDebugged(t *testing.T) {
	chain, err := filters.NewChain([]filters.Spec{filters.Instance("Off", filters.Pre, 7, fickle{})},
		filters.Settings{Disabled: func(string, filters.Phase) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	c := filtertest.New(t, "GET /")
	c.EnableDebug()
	chain.Serve(c)
	want := []string{"Invoking {pre} type filters", "Filter pre 7 Off", "Invoking {route} type filters", "Invoking {post} type filters"}
	if diff := cmp.Diff(want, c.DebugLines()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestEnableDebugTwiceKeepsTheLines(t *testing.T) {
	c := filtertest.New(t, "GET /")
	again := filters.Func("Again", filters.Route, 1, func(c *filters.Context) error { c.EnableDebug(); return nil })
	if err := filtertest.Run(t, c, enableDebug(), again); err != nil {
		t.Fatal(err)
	}
	if len(c.DebugLines()) == 0 || c.DebugLines()[0] != "Invoking {route} type filters" {
		t.Errorf("lines %q", c.DebugLines())
	}
}
