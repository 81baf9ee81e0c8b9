package accesslog_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/routing"
	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// written gives the lines of requests, as they get to their destination.
func written(t *testing.T, s accesslog.Settings, tell func(*accesslog.Log)) []string {
	t.Helper()
	out := &complete{whole: make(chan struct{})}
	w := accesslog.NewWriter(out, slog.New(slog.DiscardHandler))
	out.lines = w.Lines
	w.Configure(accesslog.Destination{Buffer: 1 << 30, Interval: time.Hour})
	if s.MaxField == 0 {
		s.MaxField = 2048
	}
	l, err := accesslog.New(s, w)
	if err != nil {
		t.Fatal(err)
	}
	tell(l)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	<-out.whole // without waiting for it the end would wait a second, in which a busy machine may do nothing
	stop()
	running.Wait()
	return strings.Split(strings.TrimSuffix(out.text.String(), "\n"), "\n")
}

// complete is a destination that tells when it has all lines.
type complete struct {
	text  strings.Builder
	lines func() int64 // that were handed over
	taken int64
	whole chan struct{}
}

func (c *complete) Write(p []byte) (int, error) {
	if c.taken += int64(bytes.Count(p, []byte("\n"))); c.taken == c.lines() {
		defer close(c.whole)
	}
	return c.text.Write(p)
}

func oneLine(t *testing.T, s accesslog.Settings, tell func(*accesslog.Log)) string {
	t.Helper()
	all := written(t, s, tell)
	if len(all) != 1 {
		t.Errorf("not one line: %q", all)
	}
	return all[0]
}

var refusal = accesslog.Refusal{
	Remote: "192.0.2.9:1", Status: http.StatusBadRequest, BytesOut: 9, Reason: "bare CR",
	Header: http.Header{"Connection": {"close"}, "Content-Type": {"text/plain"}},
}

func line(t *testing.T, s accesslog.Settings, c *filters.Context) string {
	t.Helper()
	return oneLine(t, s, func(l *accesslog.Log) { l.Begin(c); l.End(c) })
}

// served is a request that two servers were asked for.
func served(tb testing.TB) *filters.Context {
	tb.Helper()
	c := filtertest.New(tb, "GET http://g.test/api/users/1?x=1&token=hunter2",
		filtertest.RemoteAddr("192.0.2.9:4711"), filtertest.Header("User-Agent", "curl/8"), filtertest.Header("Authorization", "Bearer hunter2"),
		filtertest.Header("Referer", "http://r.test/a?Token=hunter2&y=1"), filtertest.Header("X-Tenant", "acme"),
		filtertest.Route(&routing.Route{ID: "users"}))
	c.ServiceID, c.RequestID = "users-service", "r-1"
	c.Request.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256}
	c.Attempted(filters.Attempt{Server: "a:80", Took: time.Millisecond, Cause: "connect", Err: errors.New("refused")})
	c.Attempted(filters.Attempt{Server: "b:80", Took: 2500 * time.Microsecond, Status: 200})
	c.Writer().Header().Set("X-Served-By", "b")
	c.Writer().WriteHeader(http.StatusOK)
	_, _ = c.Writer().Write([]byte("hello"))
	return c
}

func TestJSONLine(t *testing.T) {
	s := accesslog.Settings{
		Format: accesslog.JSON, RequestHeaders: []string{"x-tenant", "authorization", "absent"}, ResponseHeaders: []string{"X-Served-By"},
		MaskedParameters: []string{"token"},
		Trace:            func(*filters.Context) (string, string) { return "t1", "s1" },
	}
	text := line(t, s, served(t))
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err, text)
	}
	want := map[string]any{
		"request_id": "r-1", "trace_id": "t1", "span_id": "s1", "client": "192.0.2.9", "method": "GET", "scheme": "https", "host": "g.test",
		"path": "/api/users/1", "query": "x=1&token=***", "protocol": "HTTP/1.1", "status": 200.0, "bytes_in": 0.0, "bytes_out": 5.0,
		"route": "users", "service": "users-service", "server": "b:80", "attempts": 2.0, "upstream_status": 200.0, "upstream_ms": 2.5,
		"tls": "TLS 1.3", "cipher": "TLS_AES_128_GCM_SHA256", "user_agent": "curl/8", "referer": "http://r.test/a?Token=***&y=1",
		"request_headers": map[string]any{"X-Tenant": "acme", "Authorization": "***"}, "response_headers": map[string]any{"X-Served-By": "b"},
	}
	times := cmpopts.IgnoreMapEntries(func(name string, _ any) bool {
		return name == "time" || name == "took_ms" || name == "pre_ms" || name == "route_ms" || name == "post_ms"
	})
	if diff := cmp.Diff(want, got, times); diff != "" {
		t.Error(diff)
	}
	if _, err := time.Parse(time.RFC3339Nano, got["time"].(string)); err != nil {
		t.Error(err)
	}
}

func TestPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		`%h %l %u "%r" %s %b`:                             `192.0.2.9 - - "GET /api/users/1?x=1&token=*** HTTP/1.1" 200 5`,
		`%a %m %U%q %H %v %B %%`:                          `192.0.2.9 GET /api/users/1?x=1&token=*** HTTP/1.1 g.test 5 %`,
		`%{X-Tenant}i %{authorization}i %{Absent}i`:       `acme *** -`,
		`%{Referer}i %{x-served-by}o`:                     `http://r.test/a?Token=***&y=1 b`,
		`%{route}r %{service}r %{server}r %{attempts}r`:   `users users-service b:80 2`,
		`%{upstream_ms}r %{tunnel_ms}r %{tls}r %{cause}r`: `2.500 - TLS 1.3 -`,
		`%X`: `+`,
	} {
		t.Run(pattern, func(t *testing.T) {
			s := accesslog.Settings{Format: accesslog.Pattern, Pattern: pattern, MaskedParameters: []string{"token"}}
			if got := line(t, s, served(t)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Whoever puts a secret into a URL finds it hidden wherever that URL is shown.
func TestSecretsInURLs(t *testing.T) {
	for text, want := range map[string]string{
		"https://app.test/cb?code=hunter2&x=1":         "https://app.test/cb?code=***&x=1",
		"https://app.test/cb#x=1&code=hunter2":         "https://app.test/cb#x=1&code=***",
		"https://app.test/cb?x=1#code=hunter2":         "https://app.test/cb?x=1#code=***",
		"/cb?next=/a?code=hunter2;y":                   "/cb?next=/a?code=***;y",
		"https://ada:hunter2@app.test/cb":              "https://***@app.test/cb",
		"//ada:hunter2@app.test":                       "//***@app.test",
		"https://a@b:hunter2@app.test?x=1":             "https://***@app.test?x=1",
		"https://app.test/users/@ada?mail=a@b.test":    "https://app.test/users/@ada?mail=a@b.test",
		"5; url=https://app.test/cb?code=hunter2":      "5; url=https://app.test/cb?code=***",
		"https://app.test/cb?c%6Fde=hunter2&CODE=hunt": "https://app.test/cb?c%6Fde=***&CODE=***",
	} {
		c := served(t)
		c.Request.Header.Set("Referer", text)
		for _, name := range []string{"Location", "Content-Location", "Refresh"} {
			c.Writer().Header().Set(name, text)
		}
		s := accesslog.Settings{Format: accesslog.Pattern, Pattern: "%{Referer}i %{referer}r %{Location}o %{Content-Location}o %{Refresh}o", MaskedParameters: []string{"code"}}
		if got := line(t, s, c); got != strings.TrimSuffix(strings.Repeat(want+" ", 5), " ") {
			t.Errorf("%s: %s", text, got)
		}
		s = accesslog.Settings{Format: accesslog.JSON, ResponseHeaders: []string{"location"}, MaskedParameters: []string{"code"}}
		if got := line(t, s, c); strings.Count(got, want) != 2 {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// What is no HTTP has no request line, and a method is cut like everything else.
func TestRequestLine(t *testing.T) {
	s := accesslog.Settings{Format: accesslog.Common, MaxField: 4}
	if got := oneLine(t, s, func(l *accesslog.Log) { l.Refused(refusal) }); !strings.HasSuffix(got, `] "-" 400 9`) {
		t.Error(got)
	}
	c := filtertest.New(t, "GET /", filtertest.RemoteAddr("192.0.2.9:4711"))
	c.Request.Method = "PROPFIND"
	if got := line(t, s, c); !strings.Contains(got, `"PROP... / `) {
		t.Error(got)
	}
}

func TestPatternsThatAreNone(t *testing.T) {
	for pattern, message := range map[string]string{
		``:             `is empty`,
		`%`:            `"%" is not finished`,
		`%Z`:           `there is no "%Z"`,
		`%{a`:          `"%{a" is not finished`,
		`%{a}`:         `"%{a}" is not finished`,
		`%{sid}c`:      `cookies and sessions are not logged`,
		`%{a}Z`:        `there is no %{…}Z`,
		`%{nonsense}r`: `there are attempts, bytes_in`,
		`%{yyyy}t`:     `none of sec, msec, msec_frac, iso`,
	} {
		if _, err := accesslog.New(accesslog.Settings{Format: accesslog.Pattern, Pattern: pattern}, nil); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %q", pattern, err, message)
		}
	}
}

// gateway C223: nobody ends a field or a line by what they send.
func TestC223Injection(t *testing.T) {
	const evil = "a\" 200 1\r\nforged - - \x1b[31m\\ \u2028 ü \u202e\U000e0041 \xff"
	for format, want := range map[string]string{
		accesslog.JSON:     `"a\" 200 1\u000d\u000aforged - - \u001b[31m\\ \u2028 ü \u202e\udb40\udc41 \ufffd"`,
		accesslog.Combined: `"a\x22 200 1\x0d\x0aforged - - \x1b[31m\x5c \xe2\x80\xa8 \xc3\xbc \xe2\x80\xae\xf3\xa0\x81\x81 \xff"`,
	} {
		t.Run(format, func(t *testing.T) {
			c := filtertest.New(t, "GET /x", filtertest.RemoteAddr("192.0.2.9:1"))
			c.Request.Header["User-Agent"] = []string{evil}
			c.Writer().WriteHeader(http.StatusOK)
			if got := line(t, accesslog.Settings{Format: format}, c); !strings.Contains(got, want) {
				t.Errorf("%s\nlacks %s", got, want)
			}
		})
	}
}

func TestLongFieldsAreCut(t *testing.T) {
	c := filtertest.New(t, "GET /"+strings.Repeat("x", 5000), filtertest.RemoteAddr("192.0.2.9:1"))
	c.Request.Header.Set("User-Agent", strings.Repeat("é", 5000))
	c.Writer().WriteHeader(http.StatusOK)
	if got := line(t, accesslog.Settings{Format: accesslog.JSON, MaxField: 101}, c); len(got) > 1000 || !strings.Contains(got, `éé..."`) {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestMasking(t *testing.T) {
	for query, want := range map[string]string{
		"":                       "",
		"a=1":                    "a=1",
		"token=1":                "token=***",
		"a=1&TOKEN=x&b":          "a=1&TOKEN=***&b",
		"token=a=b;token=c":      "token=***;token=***",
		"to%6ben=1&token":        "to%6ben=***&token",
		"tokens=1&%zz=1&token=&": "tokens=1&%zz=1&token=***&",
	} {
		c := filtertest.New(t, "GET /x", filtertest.RemoteAddr("192.0.2.9:1"))
		c.Request.URL.RawQuery = query
		s := accesslog.Settings{Format: accesslog.Pattern, Pattern: "%{query}r", MaskedParameters: []string{"token"}}
		if got := line(t, s, c); got != want && (want != "" || got != "-") {
			t.Errorf("%q became %q, want %q", query, got, want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	s := accesslog.Settings{Format: accesslog.Pattern, Pattern: "%h %m %s %{cause}r %{cut}r %X", Cause: func(c *filters.Context) string { return c.Err.Error() }}
	for name, row := range map[string]struct {
		tell func(t *testing.T, l *accesslog.Log)
		want string
	}{
		"a client that has gone": {func(t *testing.T, l *accesslog.Log) {
			t.Helper()
			c := filtertest.New(t, "GET /x", filtertest.RemoteAddr("192.0.2.9:1"))
			c.Err = errors.New("gone")
			l.End(c)
		}, "192.0.2.9 GET 499 gone - +"},
		"a response cut short": {func(t *testing.T, l *accesslog.Log) {
			t.Helper()
			c := filtertest.New(t, "GET /x", filtertest.RemoteAddr("192.0.2.9:1"))
			c.Writer().WriteHeader(http.StatusOK)
			c.Abort()
			l.End(c)
		}, "192.0.2.9 GET 200 - true X"},
		"a message that was refused": {func(_ *testing.T, l *accesslog.Log) { l.Refused(refusal) }, "192.0.2.9 - 400 bare CR - -"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := oneLine(t, s, func(l *accesslog.Log) { row.tell(t, l) }); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// What there is not is left out of JSON, also where all that was asked for is missing.
func TestJSONOfOddRequests(t *testing.T) {
	s := accesslog.Settings{Format: accesslog.JSON, RequestHeaders: []string{"X-Absent"}, ResponseHeaders: []string{"Content-Type", "X-Absent"}}
	cut := filtertest.New(t, "GET /x")
	cut.Abort()
	for name, row := range map[string]struct {
		tell func(l *accesslog.Log)
		want map[string]any
	}{
		"refused": {func(l *accesslog.Log) { l.Refused(refusal) }, map[string]any{
			"response_headers": map[string]any{"Content-Type": "text/plain"}, "bytes_out": 9.0, "cause": "bare CR", "request_headers": nil, "cut": nil,
		}},
		"cut": {func(l *accesslog.Log) { l.End(cut) }, map[string]any{"cut": true, "request_headers": nil, "response_headers": nil}},
	} {
		text := oneLine(t, s, row.tell)
		var got map[string]any
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err, text)
		}
		for member, want := range row.want {
			if diff := cmp.Diff(want, got[member]); diff != "" {
				t.Errorf("%s: %s: -want +got\n%s", name, member, diff)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	w := accesslog.NewWriter(nil, nil)
	w.Configure(accesslog.Destination{Buffer: 1 << 16})
	for _, format := range []string{accesslog.JSON, accesslog.Combined} {
		l, err := accesslog.New(accesslog.Settings{Format: format, MaxField: 100, MaskedParameters: []string{"secret"}}, w)
		if err != nil {
			t.Fatal(err)
		}
		c := served(t)
		l.End(c)
		if got := testing.AllocsPerRun(100, func() { l.End(c) }); got > 0 {
			t.Errorf("%s: %v allocations", format, got)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	for _, format := range []string{accesslog.JSON, accesslog.Combined} {
		b.Run(format, func(b *testing.B) {
			w := accesslog.NewWriter(io.Discard, slog.New(slog.DiscardHandler))
			w.Configure(accesslog.Destination{Buffer: 1 << 20, Interval: time.Second})
			l, err := accesslog.New(accesslog.Settings{Format: format, MaxField: 2048, MaskedParameters: []string{"secret"}}, w)
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(b.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); w.Run(ctx) }()
			c := served(b)
			b.ReportAllocs()
			for b.Loop() {
				l.End(c)
			}
			stop()
			<-ended
			b.ReportMetric(float64(w.Lost())/float64(b.N), "lost/op")
		})
	}
}
