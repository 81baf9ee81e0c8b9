package errorfilter_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

func failing(phase filters.Phase, name string, err error) filters.Spec {
	return filters.Func(name, phase, 1, func(*filters.Context) error { return err })
}

func TestSendErrorJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := filtertest.New(t, "GET /users/a%20b?token=secret")
		_ = filtertest.Run(t, c, failing(filters.Pre, "F", filters.Refuse(504, `say "no" & <go>`)), errorfilter.SendError(errorfilter.Settings{}))
		got := filtertest.Client(c)
		const want = `{"timestamp":"2000-01-01T00:00:00.000+0000","status":504,"error":"Gateway Timeout",` +
			`"message":"say \"no\" \u0026 \u003cgo\u003e","path":"/users/a%20b"}`
		if got.Code != http.StatusGatewayTimeout || got.Body.String() != want {
			t.Errorf("%d\n got %s\nwant %s", got.Code, got.Body, want)
		}
		wantHeader := http.Header{
			"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(want))}, "Cache-Control": {"no-store"},
		}
		if diff := cmp.Diff(wantHeader, got.Header()); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

func TestSendErrorHTML(t *testing.T) {
	c := filtertest.New(t, "GET /a&amp", filtertest.Header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"))
	_ = filtertest.Run(t, c, failing(filters.Pre, "F", filters.Refuse(403, "<script>alert(1)</script>")), errorfilter.SendError(errorfilter.Settings{}))
	got := filtertest.Client(c)
	body := got.Body.String()
	if got.Header().Get("Content-Type") != "text/html;charset=UTF-8" || !strings.Contains(body, "<h1>403 Forbidden</h1>") {
		t.Errorf("%s\n%s", got.Header(), body)
	}
	if !strings.Contains(body, "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>") || !strings.Contains(body, "<code>/a&amp;amp</code>") {
		t.Errorf("not escaped:\n%s", body)
	}
}

func TestSendErrorHEAD(t *testing.T) {
	sent := func(request string) (http.Header, string) {
		c := filtertest.New(t, request)
		_ = filtertest.Run(t, c, failing(filters.Pre, "F", errors.New("x")), errorfilter.SendError(errorfilter.Settings{}))
		return filtertest.Client(c).Header(), filtertest.Client(c).Body.String()
	}
	get, _ := sent("GET /")
	head, body := sent("HEAD /")
	if diff := cmp.Diff(get, head); diff != "" || body != "" {
		t.Errorf("body %q, -GET +HEAD\n%s", body, diff)
	}
}

func TestSendErrorFields(t *testing.T) {
	tests := map[string]struct {
		err    error
		status int
		error  string
		want   http.Header
	}{
		"405 says what is allowed": {
			filters.Refuse(405, "no"), 405, "Method Not Allowed",
			http.Header{"Allow": {"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}},
		},
		"an error brings fields": {
			challenge{},
			401, "Unauthorized",
			http.Header{"Www-Authenticate": {`Basic realm="g"`}},
		},
		"a status without a name": {filters.Refuse(599, "x"), 599, "Http Status 599", http.Header{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "POST /")
			_ = filtertest.Run(t, c, failing(filters.Pre, "F", test.err), errorfilter.SendError(errorfilter.Settings{}))
			got := filtertest.Client(c)
			for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control"} {
				got.Header().Del(name)
			}
			if diff := cmp.Diff(test.want, got.Header()); diff != "" || got.Code != test.status {
				t.Errorf("%d, -want +got\n%s", got.Code, diff)
			}
			if report := decode(t, got.Body.String()); report["error"] != test.error {
				t.Errorf("error %q, want %q", report["error"], test.error)
			}
		})
	}
}

// challenge is an error of a filter that asks for credentials.
type challenge struct{}

func (challenge) Error() string { return "credentials missing" }
func (challenge) Unwrap() error { return filters.Refuse(http.StatusUnauthorized, "Unauthorized") }
func (challenge) ResponseHeader() http.Header {
	return http.Header{"Www-Authenticate": {`Basic realm="g"`}, "X-Split": {"1\r\nX-B: 2"}}
}

func decode(t *testing.T, body string) map[string]any {
	t.Helper()
	var report map[string]any
	if err := json.Unmarshal([]byte(body), &report); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return report
}

func TestSendErrorWithoutBody(t *testing.T) {
	c := filtertest.New(t, "GET /")
	_ = filtertest.Run(t, c, failing(filters.Pre, "F", filters.Refuse(304, "unchanged")), errorfilter.SendError(errorfilter.Settings{}))
	got := filtertest.Client(c)
	if got.Code != http.StatusNotModified || got.Body.Len() > 0 || len(got.Header()) > 0 {
		t.Errorf("%d %s %q", got.Code, got.Header(), got.Body)
	}
}

func TestSendErrorMessage(t *testing.T) {
	tests := map[string]struct{ include, request, cause, want string }{
		"always":                  {"always", "GET /", "why", "why"},
		"default":                 {"", "GET /", "why", "why"},
		"nothing to say":          {"", "GET /", "", "No message available"},
		"never":                   {"never", "GET /?message", "why", ""},
		"on-param asked":          {"on-param", "GET /?message", "why", "why"},
		"on-param asked with yes": {"on-param", "GET /?message=true", "why", "why"},
		"on-param declined":       {"on-param", "GET /?message=False", "why", ""},
		"on-param not asked":      {"on-param", "GET /?messages", "why", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, test.request)
			_ = filtertest.Run(t, c, failing(filters.Pre, "F", filters.Refuse(400, test.cause)),
				errorfilter.SendError(errorfilter.Settings{IncludeMessage: test.include}))
			if got := decode(t, filtertest.Client(c).Body.String())["message"]; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSendErrorOnce(t *testing.T) {
	t.Run("zuul 147 a failing clean-up does not answer again", func(t *testing.T) {
		c := filtertest.New(t, "GET /")
		meter := filters.NewMeter()
		err := filtertest.Run(t, c,
			failing(filters.Pre, "First", filters.Refuse(404, "first")),
			failing(filters.Post, "Second", errors.New("second")),
			errorfilter.SendError(errorfilter.Settings{Meter: meter}))
		got := filtertest.Client(c)
		if got.Code != http.StatusNotFound || strings.Count(got.Body.String(), "timestamp") != 1 || c.Aborted() {
			t.Errorf("%d %s, aborted %v, err %v", got.Code, got.Body, c.Aborted(), err)
		}
		if diff := cmp.Diff(map[string]int64{"ZUUL::EXCEPTION:first:404": 1}, meter.Errors()); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
	t.Run("no failure, nothing to do", func(t *testing.T) {
		c := filtertest.New(t, "GET /")
		if err := filtertest.Run(t, c, errorfilter.SendError(errorfilter.Settings{})); err != nil || c.Committed() {
			t.Errorf("err %v, committed %v", err, c.Committed())
		}
	})
}

func TestSendErrorCuts(t *testing.T) {
	tests := map[string]struct {
		setUp   func(*filters.Context)
		counted int
	}{
		"a head has left": {func(c *filters.Context) { c.Writer().WriteHeader(200) }, 1},
		"the client has gone": {func(c *filters.Context) {
			ctx, cancel := context.WithCancel(c.Request.Context())
			cancel()
			c.Request = c.Request.WithContext(ctx)
		}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /")
			test.setUp(c)
			meter := filters.NewMeter()
			_ = filtertest.Run(t, c, failing(filters.Pre, "F", errors.New("x")), errorfilter.SendError(errorfilter.Settings{Meter: meter}))
			if got := filtertest.Client(c); !c.Aborted() || got.Body.Len() > 0 {
				t.Errorf("aborted %v, sent %q", c.Aborted(), got.Body)
			}
			if len(meter.Errors()) != test.counted {
				t.Errorf("counted %v", meter.Errors())
			}
		})
	}
}

func TestSendErrorCounts(t *testing.T) {
	tests := map[string]struct {
		phase filters.Phase
		errs  []error
		want  map[string]int64
	}{
		"zuul 148 pre":   {filters.Pre, []error{errors.New("x")}, map[string]int64{"ZUUL::EXCEPTION:pre:F:500": 1}},
		"zuul 148 route": {filters.Route, []error{errors.New("x")}, map[string]int64{"ZUUL::EXCEPTION:route:F:500": 1}},
		"zuul 148 post":  {filters.Post, []error{errors.New("x")}, map[string]int64{"ZUUL::EXCEPTION:post:F:500": 1}},
		"zuul 149": {
			filters.Pre,
			[]error{
				filters.Refuse(500, "cause"), filters.Refuse(404, "cause2"), filters.Refuse(500, "cause"),
				filters.Refuse(404, "cause2"), filters.Refuse(404, "cause2"),
			},
			map[string]int64{"ZUUL::EXCEPTION:cause:500": 2, "ZUUL::EXCEPTION:cause2:404": 3},
		},
		"zuul 1.3 a failed call counts twice": {
			filters.Route,
			[]error{&ribboncmd.Error{Service: "s", Outcome: ribboncmd.Timeout, Err: ribboncmd.ErrTimeout}},
			map[string]int64{"ZUUL::EXCEPTION:TIMEOUT:504": 1, "ZUUL::EXCEPTION:route:F:504": 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			meter := filters.NewMeter()
			for _, err := range test.errs {
				c := filtertest.New(t, "GET /")
				_ = filtertest.Run(t, c, failing(test.phase, "F", err), errorfilter.SendError(errorfilter.Settings{Meter: meter}))
			}
			if diff := cmp.Diff(test.want, meter.Errors()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func wantsHTML(t *testing.T, accept ...string) bool {
	t.Helper()
	c := filtertest.New(t, "GET /")
	c.Request.Header["Accept"] = accept
	_ = filtertest.Run(t, c, failing(filters.Pre, "F", errors.New("x")), errorfilter.SendError(errorfilter.Settings{}))
	return strings.HasPrefix(filtertest.Client(c).Header().Get("Content-Type"), "text/html")
}

func TestSendErrorAccept(t *testing.T) {
	for accept, html := range map[string]bool{
		"":                                      false,
		"*/*":                                   false,
		"application/json":                      false,
		"text/html":                             true,
		"TEXT/HTML":                             true,
		"text/*":                                true,
		"text/plain":                            false,
		"text/html, */*":                        true,
		"text/html,*/*;q=0.8":                   true,
		"text/html;q=0.5, */*":                  false,
		"text/html;q=0.5, application/json":     false,
		"text/html;q=0.9, application/json;q=1": false,
		"application/json;q=0.1, text/html;level=1;q=0.2": true,
		"application/json, text/html":                     false,
		"text/html, application/json":                     true,
		"text/html;q=0":                                   false,
		"text/html;q=0, text/*":                           false,
		"text/html;q=x":                                   false,
		"text/html;q=NaN":                                 false,
		"text/html;q=2":                                   false,
		", ,text/html ; q = 1 ,":                          true,
	} {
		t.Run(accept, func(t *testing.T) {
			if got := wantsHTML(t, accept); got != html {
				t.Errorf("got %v", got)
			}
		})
	}
	t.Run("two fields", func(t *testing.T) {
		if !wantsHTML(t, "application/json;q=0.5", "text/html") {
			t.Error("the second field is not read")
		}
	})
}

// HTML is for those who name it, and a field that asks for it goes on doing so
// behind one more type.
func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"", "*/*", "text/html", "text/html;q=0.5,*/*", "a/b;q=1;q=2,text/*;q=.3", ";;,=,q"} {
		f.Add(seed)
	}
	named := regexp.MustCompile(`(?i)text/(html|\*)`)
	f.Fuzz(func(t *testing.T, accept string) {
		html := wantsHTML(t, accept)
		if html && !named.MatchString(accept) {
			t.Errorf("%q gets HTML", accept)
		}
		if got := wantsHTML(t, accept+",image/png;q=0.7"); got != html {
			t.Errorf("%q: an image changes %v to %v", accept, html, got)
		}
	})
}
