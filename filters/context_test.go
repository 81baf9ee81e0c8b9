package filters_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/routing"
)

// body counts how often it is closed.
type body struct {
	io.Reader
	closed int
}

func newBody() *body { return &body{Reader: strings.NewReader("hello")} }

func (b *body) Close() error { b.closed++; return nil }

func receive(c *filters.Context, b io.ReadCloser, h http.Header) {
	c.Receive(&http.Response{StatusCode: http.StatusOK, Header: h, Body: b, ContentLength: 5, Trailer: http.Header{"X-T": nil}})
}

func TestReleaseClosesTheUpstream(t *testing.T) {
	tests := map[string]func(*filters.Context){
		"untouched":           func(*filters.Context) {},
		"response replaced":   func(c *filters.Context) { c.Respond(http.StatusTeapot, nil, strings.NewReader("tea")) },
		"response dropped":    func(c *filters.Context) { c.Response = nil },
		"body replaced":       func(c *filters.Context) { c.Response.Body = io.NopCloser(strings.NewReader("other")) },
		"body dropped":        func(c *filters.Context) { c.Response.Body = nil },
		"body wrapped":        func(c *filters.Context) { c.Response.Body = io.NopCloser(c.Response.Body) },
		"another one came in": func(c *filters.Context) { receive(c, newBody(), http.Header{}) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			upstream := newBody()
			c := filtertest.New(t, "GET /")
			receive(c, upstream, http.Header{})
			change(c)
			c.Release()
			if upstream.closed == 0 {
				t.Error("the upstream's body was not closed")
			}
			c.Release()
		})
	}
	t.Run("also when a filter failed", func(t *testing.T) {
		upstream := newBody()
		c := filtertest.New(t, "GET /")
		_ = filtertest.Run(t, c,
			filters.Func("Ask", filters.Route, 0, func(c *filters.Context) error { receive(c, upstream, http.Header{}); return nil }),
			filters.Func("Panic", filters.Post, 0, func(c *filters.Context) error { c.Response = nil; panic("post") }))
		c.Release()
		if upstream.closed == 0 {
			t.Error("the upstream's body was not closed")
		}
	})
	t.Run("the answer of a filter too", func(t *testing.T) {
		own := newBody()
		c := filtertest.New(t, "GET /")
		c.Respond(http.StatusOK, nil, own)
		c.Release()
		if own.closed == 0 {
			t.Error("the body was not closed")
		}
	})
	t.Run("all upstreams of several", func(t *testing.T) {
		bodies := []*body{newBody(), newBody(), newBody()}
		c := filtertest.New(t, "GET /")
		for _, b := range bodies {
			receive(c, b, http.Header{})
		}
		c.Release()
		for i, b := range bodies {
			if b.closed == 0 {
				t.Errorf("body %d was not closed", i)
			}
		}
	})
}

func TestReceive(t *testing.T) {
	received := http.Header{
		"Connection": {"X-Hop"}, "X-Hop": {"1"}, "Transfer-Encoding": {"chunked"}, "X-Application-Context": {"app"},
		"Set-Cookie": {"a=1", "b=2"}, "Server": {"nginx"}, "Etag": {`"1"`},
	}
	c := filtertest.New(t, "GET /")
	c.IgnoreHeaders("eTag")
	receive(c, newBody(), received)
	want := http.Header{"Set-Cookie": {"a=1", "b=2"}, "Server": {"nginx"}}
	if diff := cmp.Diff(want, c.Response.Header); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if c.Response.Status != 200 || c.Response.ContentLength != 5 || c.Response.Trailer == nil {
		t.Errorf("response %+v", c.Response)
	}
}

func TestRespond(t *testing.T) {
	c := filtertest.New(t, "GET /")
	tests := map[string]struct {
		body   io.Reader
		length int64
	}{
		"no body":           {nil, 0},
		"of known length":   {strings.NewReader("hello"), 5},
		"of unknown length": {io.LimitReader(strings.NewReader("hello"), 3), -1},
	}
	for name, test := range tests {
		c.Respond(http.StatusTeapot, nil, test.body)
		if c.Response.Status != http.StatusTeapot || c.Response.Header == nil || c.Response.ContentLength != test.length || (c.Response.Body == nil) != (test.body == nil) {
			t.Errorf("%s: %+v", name, c.Response)
		}
	}
}

func TestOutStartsAsTheRequest(t *testing.T) {
	c := filtertest.New(t, "POST /a%2Fb?x=1&&y", filtertest.Body("hello"), filtertest.Header("X-A", "1"), filtertest.Header("Upgrade", "h2c"))
	if c.Out.Method != http.MethodPost || c.Out.Path != "/a%2Fb" || c.Out.Query != "x=1&&y" || c.Out.ContentLength != 5 || c.Out.Host != "" {
		t.Errorf("out %+v", c.Out)
	}
	if diff := cmp.Diff(http.Header{"X-A": {"1"}}, c.Out.Header); diff != "" {
		t.Error(diff)
	}
	c.Out.Header.Add("X-A", "2")
	c.Out.Header.Set("X-B", "3")
	if got := c.Request.Header; len(got["X-A"]) != 1 || got.Get("X-B") != "" {
		t.Errorf("the request became %v", got)
	}
	if question := filtertest.New(t, "GET /?"); !question.Out.ForceQuery {
		t.Error("the question mark is lost")
	}
}

func TestAttributes(t *testing.T) {
	user, other := filters.NewKey[string]("user"), filters.NewKey[string]("user")
	roles := filters.NewKey[[]string]("roles")
	c := filtertest.New(t, "GET /")
	if got, ok := user.Get(c); got != "" || ok {
		t.Errorf("unset: %q, %v", got, ok)
	}
	user.Set(c, "ann")
	roles.Set(c, []string{"admin"})
	user.Set(c, "bob")
	if got, ok := user.Get(c); got != "bob" || !ok {
		t.Errorf("user %q, %v", got, ok)
	}
	if got, ok := roles.Get(c); len(got) != 1 || !ok {
		t.Errorf("roles %q, %v", got, ok)
	}
	if _, ok := other.Get(c); ok {
		t.Error("a key of equal name finds the value")
	}
}

func TestCloneOutlivesTheRequest(t *testing.T) {
	key := filters.NewKey[int]("n")
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/a?b", strings.NewReader("hello"))
	r.Header.Set("X-A", "1")
	c := filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/a", Clean: "/a"}, time.Now())
	key.Set(c, 1)
	c.EnableDebug()
	upstream := newBody()
	err := filtertest.Run(t, c, filters.Func("Sample", "sample", 0, nothing),
		filters.Func("Ask", filters.Route, 0, func(c *filters.Context) error { receive(c, upstream, http.Header{}); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	c.IgnoreHeaders("X-Ignored")
	c.IgnoreHeaders("X-Second")
	c.IgnoreHeaders("X-Third") // leaves room for a fourth

	d := c.Clone()
	lines := len(d.DebugLines())
	key.Set(c, 2)
	c.Request.Header.Set("X-A", "changed")
	c.Out.Header.Set("X-A", "changed")
	c.Response.Header.Set("X-R", "changed")
	c.IgnoreHeaders("X-Later")
	cancel()
	_ = filtertest.Run(t, c, filters.Func("Later", filters.Post, 0, nothing))
	d.IgnoreHeaders("X-Own")

	if n, _ := key.Get(d); n != 1 {
		t.Errorf("attribute %d", n)
	}
	if d.Request.Header.Get("X-A") != "1" || d.Out.Header.Get("X-A") != "1" || d.Response.Header.Get("X-R") != "" {
		t.Errorf("headers %v, %v, %v", d.Request.Header, d.Out.Header, d.Response.Header)
	}
	if len(d.Executions()) != 1 || len(d.DebugLines()) != lines {
		t.Errorf("executions %v, %d debug lines", d.Executions(), len(d.DebugLines()))
	}
	if !d.IgnoresHeader("X-Ignored") || d.IgnoresHeader("X-Later") || !c.IgnoresHeader("X-Later") {
		t.Error("ignored names are shared")
	}
	if d.Request.Context().Err() != nil {
		t.Error("its context ends with the request")
	}
	if !d.Committed() || d.Response.Body != nil || d.Out.Body != http.NoBody || d.Request.Body != http.NoBody {
		t.Error("it holds the connection or a body")
	}
	d.Writer().WriteHeader(http.StatusOK)
	if n, err := io.WriteString(d.Writer(), "x"); n != 1 || err != nil || d.Writer().Header() == nil {
		t.Errorf("writing to nobody: %d, %v", n, err)
	}
	if err := d.RunPhase("sample"); err != nil || len(d.Executions()) != 2 || c.Executions()[1].Filter != "Later" {
		t.Errorf("running filters for it: %v, %v, %v", err, d.Executions(), c.Executions())
	}
	d.Release()
	if upstream.closed != 0 {
		t.Error("releasing the clone closed the upstream")
	}
}

func TestCommitted(t *testing.T) {
	tests := map[string]struct {
		write func(http.ResponseWriter)
		want  bool
	}{
		"nothing":             {func(http.ResponseWriter) {}, false},
		"header fields":       {func(w http.ResponseWriter) { w.Header().Set("X-A", "1") }, false},
		"early hints":         {func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) }, false},
		"switching protocols": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusSwitchingProtocols) }, true},
		"final head":          {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, true},
		"body":                {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "x") }, true},
		"copied body":         {func(w http.ResponseWriter) { _, _ = io.Copy(w, io.LimitReader(strings.NewReader("x"), 1)) }, true},
		"flush":               {func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }, true},
		"hijack that fails":   {func(w http.ResponseWriter) { _, _, _ = http.NewResponseController(w).Hijack() }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /")
			test.write(c.Writer())
			if c.Committed() != test.want {
				t.Errorf("committed is %v", c.Committed())
			}
		})
	}
}

func TestHijackCommits(t *testing.T) {
	taken := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := filters.NewContext(w, r, routing.Path{Raw: "/", Clean: "/"}, time.Now())
		conn, _, err := http.NewResponseController(c.Writer()).Hijack()
		taken <- err == nil && c.Committed()
		if err == nil {
			_ = conn.Close()
		}
	}))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := server.Client().Do(request); err == nil {
		_ = res.Body.Close()
	}
	if !<-taken {
		t.Error("the connection was not taken over, or not noticed")
	}
}

func TestAbort(t *testing.T) {
	c := filtertest.New(t, "GET /")
	if c.Aborted() {
		t.Error("aborted from the start")
	}
	c.Abort()
	if !c.Aborted() {
		t.Error("not aborted")
	}
}

func TestStatusErrorText(t *testing.T) {
	plain := filters.Refuse(http.StatusTooManyRequests, "slow down")
	caused := &filters.StatusError{Status: http.StatusBadGateway, Cause: "upstream", Err: errBoom}
	if plain.Error() != "429 slow down" || caused.Error() != "502 upstream: boom" {
		t.Errorf("texts %q, %q", plain, caused)
	}
	if !errors.Is(caused, errBoom) {
		t.Error("the underlying failure is hidden")
	}
}

func TestLoggerOfTheChain(t *testing.T) {
	c := filtertest.New(t, "GET /")
	c.Logger().Info("before there is a chain") // must not panic
	var inside bool
	err := filtertest.Run(t, c, filters.Func("Log", filters.Pre, 0, func(c *filters.Context) error { inside = c.Logger() != nil; return nil }))
	if err != nil || !inside {
		t.Errorf("err %v, logger %v", err, inside)
	}
}
