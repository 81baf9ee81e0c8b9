package filtertest_test

import (
	"fmt"
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
)

var apiKey = filters.Func("ApiKeyFilter", filters.Pre, 4, func(c *filters.Context) error {
	if c.Request.Header.Get("X-Api-Key") == "" {
		return filters.Refuse(http.StatusUnauthorized, "missing API key")
	}
	c.Out.Header.Set("X-Tenant", "acme")
	return nil
})

// The t of these examples is the *testing.T of a test function.
func ExampleRun() {
	c := filtertest.New(t, "GET /users/1", filtertest.Header("X-Api-Key", "k"))
	err := filtertest.Run(t, c, apiKey)
	fmt.Println(err, c.Out.Header.Get("X-Tenant"))

	c = filtertest.New(t, "GET /users/1")
	fmt.Println(filtertest.Run(t, c, apiKey))
	// Output:
	// <nil> acme
	// pre:ApiKeyFilter: 401 missing API key
}

func ExampleServe() {
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello %s on %s", r.Header.Get("X-Tenant"), r.URL.Path)
	})
	stamp := filters.Func("StampFilter", filters.Post, 900, func(c *filters.Context) error {
		c.Response.Header.Set("X-Served-By", "gozer")
		return nil
	})

	c := filtertest.New(t, "GET /users/1", filtertest.Header("X-Api-Key", "k"))
	got := filtertest.Serve(t, c, upstream, apiKey, stamp)
	fmt.Println(got.Code, got.Body, got.Header().Get("X-Served-By"))
	// Output:
	// 200 hello acme on /users/1 gozer
}

func ExampleConfigured() {
	c := filtertest.New(t, "GET /")
	c.Respond(http.StatusOK, nil, nil)
	err := filtertest.Run(t, c, filtertest.Configured(banner, bannerSettings{Text: "hi"}))
	fmt.Println(err, c.Response.Header.Get("X-Banner"))
	// Output:
	// <nil> hi
}

type bannerSettings struct{ Text string }

var banner = filters.Spec{
	Name: "BannerFilter", Phase: filters.Post, Order: 900,
	New: func(decode func(any) error) (filters.Filter, error) {
		s := bannerSettings{Text: "welcome"}
		if err := decode(&s); err != nil {
			return nil, err
		}
		return bannerFilter{s.Text}, nil
	},
}

type bannerFilter struct{ text string }

func (bannerFilter) ShouldFilter(c *filters.Context) bool { return c.Response != nil }

func (f bannerFilter) Run(c *filters.Context) error {
	c.Response.Header.Set("X-Banner", f.text)
	return nil
}
