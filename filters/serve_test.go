package filters_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
)

var errBoom = errors.New("boom")

// journal notes which filters run. Those whose names are in failing fail.
type journal struct {
	failing []string
	err     error // what they fail with; nil makes them panic
	events  []string
}

func (j *journal) filter(name string, phase filters.Phase, order int) filters.Spec {
	return filters.Func(name, phase, order, func(*filters.Context) error {
		if !slices.Contains(j.failing, name) {
			j.events = append(j.events, name)
			return nil
		}
		j.events = append(j.events, name+"!")
		if j.err == nil {
			panic(errBoom)
		}
		return j.err
	})
}

func (j *journal) filters() []filters.Spec {
	return []filters.Spec{
		j.filter("pre1", filters.Pre, 1), j.filter("pre2", filters.Pre, 2),
		j.filter("route1", filters.Route, 1), j.filter("route2", filters.Route, 2),
		j.filter("post1", filters.Post, 1), j.filter("post2", filters.Post, 2),
		j.filter("error1", filters.Error, 1), j.filter("error2", filters.Error, 2),
	}
}

func TestServeFollowsTheTable(t *testing.T) {
	tests := []struct {
		name    string
		failing string
		want    string
	}{
		{"row 2 all is well", "", "pre1 pre2 route1 route2 post1 post2"},
		{"row 3 first pre filter fails", "pre1", "pre1! error1 error2 post1 post2"},
		{"row 3 second pre filter fails", "pre2", "pre1 pre2! error1 error2 post1 post2"},
		{"row 4 route filter fails", "route1", "pre1 pre2 route1! error1 error2 post1 post2"},
		{"row 5 post filter fails", "post1", "pre1 pre2 route1 route2 post1! error1 error2"},
		{"row 6 post fails as clean-up of pre", "pre1 post1", "pre1! error1 error2 post1! error1 error2"},
		{"row 6 post fails as clean-up of route", "route2 post2", "pre1 pre2 route1 route2! error1 error2 post1 post2! error1 error2"},
		{"row 8 error filter fails after pre", "pre1 error1", "pre1! error1! post1 post2"},
		{"row 8 error filter fails after route", "route1 error2", "pre1 pre2 route1! error1 error2! post1 post2"},
		{"row 8 error filter fails after post", "post2 error1", "pre1 pre2 route1 route2 post1 post2! error1!"},
		{"rows 6 and 8", "pre1 post1 error1", "pre1! error1! post1! error1!"},
	}
	for _, test := range tests {
		for name, err := range map[string]error{"error": errBoom, "refusal": filters.Refuse(http.StatusTeapot, "teapot"), "row 7 panic": nil} {
			t.Run(test.name+" "+name, func(t *testing.T) {
				j := &journal{failing: strings.Fields(test.failing), err: err}
				_ = filtertest.Run(t, filtertest.New(t, "GET /"), j.filters()...)
				if got := strings.Join(j.events, " "); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
			})
		}
	}
}

func TestServeOfAFailedContext(t *testing.T) {
	j := &journal{}
	c := filtertest.New(t, "GET /")
	c.Err = filters.Refuse(http.StatusBadRequest, "unsafe path")
	err := filtertest.Run(t, c, j.filters()...)
	if got := strings.Join(j.events, " "); got != "error1 error2 post1 post2" {
		t.Errorf("ran %s", got)
	}
	if refused, ok := errors.AsType[*filters.StatusError](err); !ok || refused.Status != http.StatusBadRequest {
		t.Errorf("the failure became %v", err)
	}
}

func TestErrorFiltersSeeTheFailure(t *testing.T) {
	for _, phase := range []filters.Phase{filters.Pre, filters.Route, filters.Post} {
		t.Run("zuul 161 once, with that failure, "+string(phase), func(t *testing.T) {
			var seen []error
			handle := filters.Func("Handle", filters.Error, 0, func(c *filters.Context) error { seen = append(seen, c.Err); return nil })
			fail := filters.Func("Fail", phase, 0, func(*filters.Context) error { return errBoom })
			_ = filtertest.Run(t, filtertest.New(t, "GET /"), handle, fail)
			if len(seen) != 1 || !errors.Is(seen[0], errBoom) {
				t.Fatalf("seen %v", seen)
			}
			failure, ok := errors.AsType[*filters.FilterError](seen[0])
			if !ok || failure.Cause() != string(phase)+":Fail" || failure.Error() != string(phase)+":Fail: boom" {
				t.Errorf("failure %v", failure)
			}
		})
		t.Run("zuul 160 a refusal keeps its status, "+string(phase), func(t *testing.T) {
			fail := filters.Func("Fail", phase, 0, func(*filters.Context) error { return filters.Refuse(http.StatusBadRequest, "no") })
			err := filtertest.Run(t, filtertest.New(t, "GET /"), fail)
			if refused, ok := errors.AsType[*filters.StatusError](err); !ok || refused.Status != http.StatusBadRequest || refused.Cause != "no" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFailedCleanUpReplacesTheFailure(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	var seen []string
	err := filtertest.Run(t, filtertest.New(t, "GET /"),
		filters.Func("Route", filters.Route, 0, func(*filters.Context) error { return first }),
		filters.Func("Post", filters.Post, 0, func(*filters.Context) error { return second }),
		filters.Func("Handle", filters.Error, 0, func(c *filters.Context) error { seen = append(seen, c.Err.Error()); return nil }))
	failure, ok := errors.AsType[*filters.StatusError](err)
	if !ok || failure.Status != http.StatusInternalServerError || failure.Cause != "UNHANDLED_EXCEPTION_post:Post" {
		t.Fatalf("got %v", err)
	}
	if !errors.Is(err, second) || errors.Is(err, first) {
		t.Errorf("%v hides %v", err, second)
	}
	if want := []string{"route:Route: first", "500 UNHANDLED_EXCEPTION_post:Post: post:Post: second"}; !slices.Equal(seen, want) {
		t.Errorf("the error filters saw %q", seen)
	}
}

func TestFailedErrorFilterIsLoggedOnly(t *testing.T) {
	var log bytes.Buffer
	chain, err := filters.NewChain([]filters.Spec{
		filters.Func("Fail", filters.Pre, 0, func(*filters.Context) error { return errBoom }),
		filters.Func("Handle", filters.Error, 0, func(*filters.Context) error { return errors.New("handler broke") }),
	}, filters.Settings{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	c := filtertest.New(t, "GET /")
	chain.Serve(c)
	if !errors.Is(c.Err, errBoom) {
		t.Errorf("the failure became %v", c.Err)
	}
	if line := log.String(); !strings.Contains(line, "error:Handle: handler broke") || !strings.Contains(line, "pre:Fail: boom") {
		t.Errorf("logged %q", line)
	}
}

// fickle panics in ShouldFilter.
type fickle struct{}

func (fickle) ShouldFilter(*filters.Context) bool { panic("undecided") }
func (fickle) Run(*filters.Context) error         { return nil }

func TestPanicStopsAtTheFilter(t *testing.T) {
	tests := map[string]filters.Spec{
		"in Run":          filters.Func("Panic", filters.Pre, 0, func(*filters.Context) error { panic("undecided") }),
		"in ShouldFilter": filters.Instance("Panic", filters.Pre, 0, fickle{}),
	}
	for name, spec := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /")
			err := filtertest.Run(t, c, spec)
			panicked, ok := errors.AsType[*filters.PanicError](err)
			if !ok || panicked.Value != "undecided" || !bytes.Contains(panicked.Stack, []byte("serve_test.go")) {
				t.Fatalf("got %v", err)
			}
			if err.Error() != "pre:Panic: filter panicked: undecided" {
				t.Errorf("text %q", err)
			}
			if len(c.Executions()) != 1 || c.Executions()[0].Status != filters.Failed {
				t.Errorf("executions %v", c.Executions())
			}
		})
	}
}

func TestResponseDoesNotStopAPhase(t *testing.T) {
	j := &journal{}
	answer := filters.Func("Answer", filters.Pre, 0, func(c *filters.Context) error {
		c.Respond(http.StatusTeapot, nil, nil)
		return nil
	})
	if err := filtertest.Run(t, filtertest.New(t, "GET /"), append(j.filters(), answer)...); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(j.events, " "); got != "pre1 pre2 route1 route2 post1 post2" {
		t.Errorf("ran %s", got)
	}
}
