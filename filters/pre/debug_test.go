package pre_test

import (
	"net/http"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/pre"
)

func TestDebug(t *testing.T) {
	tests := map[string]struct {
		settings pre.DebugSettings
		request  string
		options  []filtertest.Option
		want     bool
	}{
		"not asked":              {request: "GET /"},
		"asked":                  {request: "GET /?debug=true", want: true},
		"asked among others":     {request: "GET /?a=1&debug=true&b", want: true},
		"encoded":                {request: "GET /?d%65bug=%74rue", want: true},
		"exactly true":           {request: "GET /?debug=TRUE"},
		"first value counts":     {request: "GET /?debug=false&debug=true"},
		"no value":               {request: "GET /?debug"},
		"badly escaped":          {request: "GET /?%zz=1&debug=true%"},
		"other name":             {settings: pre.DebugSettings{Parameter: "trace"}, request: "GET /?debug=true"},
		"configured name":        {settings: pre.DebugSettings{Parameter: "trace"}, request: "GET /?trace=true", want: true},
		"always":                 {settings: pre.DebugSettings{Always: true}, request: "GET /", want: true},
		"form fields do not ask": {request: "POST /", options: form("debug=true")},
		"headers do not ask":     {request: "GET /", options: []filtertest.Option{filtertest.Header("Debug", "true")}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, test.request, test.options...)
			if err := filtertest.Run(t, c, pre.Debug(test.settings)); err != nil {
				t.Fatal(err)
			}
			if c.Debugging() != test.want {
				t.Errorf("debugging is %v", c.Debugging())
			}
		})
	}
}

func form(body string) []filtertest.Option {
	return []filtertest.Option{
		filtertest.Header("Content-Type", "application/x-www-form-urlencoded"), filtertest.Body(body),
	}
}

func TestDebugStaysInside(t *testing.T) {
	t.Run("gateway C246 debug=true shows the client nothing by itself", func(t *testing.T) {
		c := filtertest.New(t, "GET /?debug=true")
		got := filtertest.Serve(t, c, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), pre.Debug(pre.DebugSettings{}))
		if len(c.DebugLines()) == 0 {
			t.Fatal("nothing was recorded")
		}
		if len(got.Header()) != 0 || got.Body.Len() != 0 {
			t.Errorf("the client got %v %s", got.Header(), got.Body)
		}
	})
}

func TestDebugIsOfOrder1(t *testing.T) {
	spec := pre.Debug(pre.DebugSettings{})
	if spec.Name != "DebugFilter" || spec.Phase != filters.Pre || spec.Order != 1 {
		t.Errorf("%s, phase %s, order %d", spec.Name, spec.Phase, spec.Order)
	}
}
