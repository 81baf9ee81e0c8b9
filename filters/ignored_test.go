package filters_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/internal/headers"
)

func TestDropIgnored(t *testing.T) {
	tests := map[string]struct {
		change func(*filters.Context)
		want   []string
	}{
		"as received":        {func(*filters.Context) {}, nil},
		"set by a filter":    {func(c *filters.Context) { c.Out.Header.Set("X-A", "own") }, []string{"own"}},
		"added by a filter":  {func(c *filters.Context) { c.Out.Header.Add("X-A", "own") }, []string{"own"}},
		"set to the same":    {func(c *filters.Context) { c.Out.Header["X-A"] = []string{"1", "2"} }, []string{"1", "2"}},
		"deleted and set":    {func(c *filters.Context) { c.Out.Header.Del("X-A"); c.Out.Header.Set("X-A", "1") }, []string{"1"}},
		"deleted by one":     {func(c *filters.Context) { c.Out.Header.Del("X-A") }, nil},
		"ignored, set again": {func(c *filters.Context) { c.DropIgnored(); c.Out.Header.Set("X-A", "own") }, []string{"own"}},
	}
	ways := map[string]func(*filters.Context){
		"by name": func(c *filters.Context) { c.IgnoreHeaders("x-other", "x-a") },
		"by set":  func(c *filters.Context) { c.IgnoreHeaderSet(headers.NewSet("x-a")) },
	}
	for name, test := range tests {
		for way, ignore := range ways {
			t.Run(name+" "+way, func(t *testing.T) {
				c := filtertest.New(t, "GET /", filtertest.Header("X-A", "1"), filtertest.Header("X-A", "2"), filtertest.Header("X-B", "3"))
				ignore(c)
				test.change(c)
				c.DropIgnored()
				if diff := cmp.Diff(test.want, c.Out.Header["X-A"]); diff != "" {
					t.Error(diff)
				}
				if c.Out.Header.Get("X-B") != "3" || len(c.Request.Header["X-A"]) != 2 {
					t.Errorf("others became %v, the request %v", c.Out.Header, c.Request.Header)
				}
			})
		}
	}
}

func TestIgnoredNamesAddUp(t *testing.T) {
	c := filtertest.New(t, "GET /")
	c.IgnoreHeaders("x-a")
	c.IgnoreHeaderSet(headers.NewSet("x-b"))
	c.IgnoreHeaderSet(headers.NewSet("x-c"))
	c.IgnoreHeaders("X-d")
	for name, want := range map[string]bool{"X-A": true, "X-B": false, "X-C": true, "X-D": true} {
		if c.IgnoresHeader(name) != want {
			t.Errorf("%s: ignored is %v", name, !want)
		}
	}
	receive(c, newBody(), http.Header{"X-A": {"1"}, "X-B": {"2"}, "X-C": {"3"}, "X-D": {"4"}})
	if diff := cmp.Diff(http.Header{"X-B": {"2"}}, c.Response.Header); diff != "" {
		t.Error(diff)
	}
}
