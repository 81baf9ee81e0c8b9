package post_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/post"
	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/routing"
)

// receive makes an upstream's response the answer of c.
func receive(c *filters.Context, status int, body string, fields ...string) {
	res := &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: int64(len(body))}
	for i := 0; i < len(fields); i += 2 {
		res.Header.Add(fields[i], fields[i+1])
	}
	res.Body = io.NopCloser(strings.NewReader(body))
	c.Receive(res)
}

func TestSendResponse(t *testing.T) {
	const gzip = "\x1f\x8b\x08 not really"
	tests := map[string]struct {
		request string
		status  int
		body    string
		fields  []string
		setUp   func(*filters.Context)

		want     http.Header
		wantBody string
	}{
		"zuul 118 length known": {
			status: 200, body: "length", wantBody: "length",
			want: http.Header{"Content-Length": {"6"}, "Content-Type": nil},
		},
		"zuul 119 unknown encoding": {
			status: 200, body: "length", fields: []string{"Content-Encoding", "unknown"}, wantBody: "length",
			want: http.Header{"Content-Length": {"6"}, "Content-Type": nil, "Content-Encoding": {"unknown"}},
		},
		"zuul 120 gzip for a client that accepts it": {
			status: 200, body: gzip, fields: []string{"Content-Encoding", "gzip"}, wantBody: gzip,
			want: http.Header{"Content-Length": {"14"}, "Content-Type": nil, "Content-Encoding": {"gzip"}},
		},
		"zuul 121 122 gzip, true or not, passes untouched to a client that did not ask": {
			status: 200, body: "hello", fields: []string{"Content-Encoding", "gzip"}, wantBody: "hello",
			setUp: func(c *filters.Context) { c.Request.Header.Del("Accept-Encoding") },
			want:  http.Header{"Content-Length": {"5"}, "Content-Type": nil, "Content-Encoding": {"gzip"}},
		},
		"zuul 123 gzip without a byte": {
			status: 200, fields: []string{"Content-Encoding", "gzip"},
			want: http.Header{"Content-Length": {"0"}, "Content-Type": nil, "Content-Encoding": {"gzip"}},
		},
		"zuul 124 C038 the charset stays": {
			status: 200, body: "\x93\xfa", fields: []string{"Content-Type", "text/plain; charset=UTF-16"}, wantBody: "\x93\xfa",
			want: http.Header{"Content-Length": {"2"}, "Content-Type": {"text/plain; charset=UTF-16"}},
		},
		"zuul 133 an unknown status": {
			status: 517, want: http.Header{"Content-Length": {"0"}, "Content-Type": nil},
		},
		"zuul 141 an error page of the upstream": {
			status: 404, body: "no", wantBody: "no",
			want: http.Header{"Content-Length": {"2"}, "Content-Type": nil},
		},
		"S42 the highest status": {
			status: 999, want: http.Header{"Content-Length": {"0"}, "Content-Type": nil},
		},
		"S02 C036 C061 every value in order": {
			status: 401, fields: []string{
				"X-A", "2", "X-A", "1", "Www-Authenticate", "Basic", "Www-Authenticate", "Digest",
				"Set-Cookie", "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "Set-Cookie", "__Host-b=2; Partitioned",
			},
			want: http.Header{
				"X-A": {"2", "1"}, "Www-Authenticate": {"Basic", "Digest"},
				"Set-Cookie":     {"a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "__Host-b=2; Partitioned"},
				"Content-Length": {"0"}, "Content-Type": nil,
			},
		},
		"S19 fields about the representation": {
			status: 200, fields: []string{"Etag", `W/"1"`, "Server", "u1", "Retry-After", "3", "Date", "Mon, 01 Jan 2024 00:00:00 GMT"},
			want: http.Header{
				"Etag": {`W/"1"`}, "Server": {"u1"}, "Retry-After": {"3"}, "Date": {"Mon, 01 Jan 2024 00:00:00 GMT"},
				"Content-Length": {"0"}, "Content-Type": nil,
			},
		},
		"zuul 96 an ignored field does not pass, one that a filter sets does": {
			status: 200, fields: []string{"X-Header", "theirs", "X-Other", "theirs"},
			setUp: func(c *filters.Context) {
				c.Response.Header.Set("X-Header", "ours")
			},
			want: http.Header{"X-Header": {"ours"}, "X-Other": {"theirs"}, "Content-Length": {"0"}, "Content-Type": nil},
		},
		"zuul 97 X-Application-Context is the gateway's own": {
			status: 200, fields: []string{"X-Application-Context", "upstream:8080"},
			setUp: func(c *filters.Context) { c.Writer().Header().Set("X-Application-Context", "gateway") },
			want:  http.Header{"X-Application-Context": {"gateway"}, "Content-Length": {"0"}, "Content-Type": nil},
		},
		"C035 framing set by a filter is left out": {
			status: 200, body: "four", wantBody: "four",
			setUp: func(c *filters.Context) {
				c.Response.Header.Set("Content-Length", "3")
				c.Response.Header.Set("Transfer-Encoding", "chunked")
				c.Response.Header.Set("Connection", "X-Hop")
				c.Response.Header.Set("X-Hop", "1")
			},
			want: http.Header{"Content-Length": {"4"}, "Content-Type": nil},
		},
		"S28 C074 HEAD announces the length of GET": {
			request: "HEAD /", status: 200, body: "",
			setUp: func(c *filters.Context) { c.Response.ContentLength = 12345 },
			want:  http.Header{"Content-Length": {"12345"}, "Content-Type": nil},
		},
		"C074 HEAD without a length": {
			request: "HEAD /", status: 200,
			setUp: func(c *filters.Context) { c.Response.ContentLength = -1 },
			want:  http.Header{"Content-Type": nil},
		},
		"HEAD answered by a filter has no body": {
			request: "HEAD /", status: 200,
			setUp: func(c *filters.Context) { c.Respond(200, nil, strings.NewReader("hello")) },
			want:  http.Header{"Content-Length": {"5"}, "Content-Type": nil},
		},
		"S23 M25 204 has no length": {
			status: 204, body: "stray", want: http.Header{"Content-Type": nil},
		},
		"304 has no length unless it is known": {
			status: 304, fields: []string{"Etag", `"1"`}, want: http.Header{"Content-Type": nil, "Etag": {`"1"`}},
		},
		"no body at all": {
			status: 200, setUp: func(c *filters.Context) { c.Respond(200, http.Header{"Content-Type": {"text/plain"}}, nil) },
			want: http.Header{"Content-Length": {"0"}, "Content-Type": {"text/plain"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.request == "" {
				test.request = "GET /"
			}
			c := filtertest.New(t, test.request, filtertest.Header("Accept-Encoding", "gzip"))
			c.IgnoreHeaders("x-header")
			receive(c, test.status, test.body, test.fields...)
			if test.setUp != nil {
				test.setUp(c)
			}
			if err := filtertest.Run(t, c, post.SendResponse(post.SendResponseSettings{})); err != nil {
				t.Fatal(err)
			}
			got := filtertest.Client(c)
			if got.Code != test.status || got.Body.String() != test.wantBody || c.Aborted() {
				t.Errorf("status %d, body %q, aborted %v", got.Code, got.Body, c.Aborted())
			}
			if diff := cmp.Diff(test.want, got.Header()); diff != "" {
				t.Errorf("header: -want +got\n%s", diff)
			}
		})
	}
}

func TestSendResponseStandsAside(t *testing.T) {
	tests := map[string]func(*filters.Context){
		"no response":        func(c *filters.Context) { c.Response = nil },
		"already answered":   func(c *filters.Context) { c.Writer().WriteHeader(http.StatusAccepted) },
		"an earlier failure": func(c *filters.Context) { c.Err = errors.New("boom") },
	}
	for name, setUp := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /")
			receive(c, 200, "never sent")
			setUp(c)
			_ = filtertest.Run(t, c, post.SendResponse(post.SendResponseSettings{}))
			if got := filtertest.Client(c); got.Body.Len() > 0 {
				t.Errorf("sent %q", got.Body)
			}
		})
	}
}

func TestSendResponseRefuses(t *testing.T) {
	field := func(name, value string) func(*filters.Response) {
		return func(r *filters.Response) { r.Header[name] = []string{"fine", value} }
	}
	tests := map[string]struct {
		spoil func(*filters.Response)
		want  string
	}{
		"S42 status 99":        {func(r *filters.Response) { r.Status = 99 }, "502 Invalid upstream status 99"},
		"S42 status 1000":      {func(r *filters.Response) { r.Status = 1000 }, "502 Invalid upstream status 1000"},
		"101 nobody asked for": {func(r *filters.Response) { r.Status = 101 }, "502 Invalid upstream status 101"},
		"CR LF in a value":     {field("X-A", "1\r\nSet-Cookie: x=1"), "field X-A has a control character"},
		"LF in a value":        {field("X-A", "1\nX-B: 2"), "field X-A has a control character"},
		"CR in a value":        {field("X-A", "1\rX-B: 2"), "field X-A has a control character"},
		"NUL in a value":       {field("X-A", "1\x00"), "field X-A has a control character"},
		"LF in a name":         {field("X-A\nX-B", "1"), `invalid field name "X-A\nX-B"`},
		"colon in a name":      {field("X-A: 1", "1"), `invalid field name "X-A: 1"`},
		"empty name":           {field("", "1"), `invalid field name ""`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /")
			receive(c, 200, "body")
			test.spoil(c.Response)
			err := filtertest.Run(t, c, post.SendResponse(post.SendResponseSettings{}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if c.Committed() || len(filtertest.Client(c).Header()) > 0 {
				t.Error("something was sent, or left over for the error page")
			}
		})
	}
}

func TestSendResponseDebugHeader(t *testing.T) {
	tests := map[string]struct {
		include, debug bool
		want           string
	}{
		"zuul 117 debugged":    {true, true, "[[[Invoking {post} type filters]]][[[Filter post 1000 SendResponseFilter]]]"},
		"not debugged":         {true, false, ""},
		"header not asked for": {false, true, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /")
			receive(c, 200, "")
			specs := []filters.Spec{post.SendResponse(post.SendResponseSettings{DebugHeader: test.include})}
			if test.debug {
				specs = append(specs, filters.Func("Debug", filters.Route, 1, func(c *filters.Context) error {
					c.EnableDebug()
					return nil
				}))
			}
			if err := filtertest.Run(t, c, specs...); err != nil {
				t.Fatal(err)
			}
			got := filtertest.Client(c).Header().Get("X-Zuul-Debug-Header")
			if !strings.HasSuffix(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// step is a client that notes what reaches it and when it is flushed.
type step struct {
	*httptest.ResponseRecorder
	log  []string
	fail error
}

func (s *step) WriteHeader(int) { s.log = append(s.log, "head") }

func (s *step) Write(p []byte) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	s.log = append(s.log, string(p))
	return len(p), nil
}

func (s *step) FlushError() error {
	s.log = append(s.log, "flush")
	return nil
}

func contextFor(t *testing.T, w http.ResponseWriter) *filters.Context {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	return filters.NewContext(w, r, routing.Path{Raw: "/", Clean: "/"}, time.Now())
}

func TestSendResponseFlushes(t *testing.T) {
	tests := map[string]struct {
		body   io.Reader
		length int64
		want   []string
	}{
		"C109 C112 unknown length: head, then each piece": {
			pieces("data: 1\n\n", "data: 2\n\n"), -1,
			[]string{"head", "flush", "data: 1\n\n", "flush", "data: 2\n\n", "flush"},
		},
		"a full buffer goes through by itself": {
			pieces("0123456789abcdef", "x"), -1,
			[]string{"head", "flush", "0123456789abcdef", "x", "flush"},
		},
		"the end flushes by itself": {
			iotest.DataErrReader(pieces("last")), -1,
			[]string{"head", "flush", "last"},
		},
		"known length: while something is missing": {
			pieces("one", "two"), 6,
			[]string{"head", "one", "flush", "two"},
		},
		"known length in one piece: never": {
			pieces("one"), 3,
			[]string{"head", "one"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &step{ResponseRecorder: httptest.NewRecorder()}
			c := contextFor(t, w)
			c.Respond(200, nil, test.body)
			c.Response.ContentLength = test.length
			if err := filtertest.Run(t, c, post.SendResponse(post.SendResponseSettings{BufferSize: 16})); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, w.log); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// pieces gives one string per read.
func pieces(list ...string) io.Reader {
	var readers []io.Reader
	for _, s := range list {
		readers = append(readers, strings.NewReader(s))
	}
	return io.MultiReader(readers...)
}

func TestSendResponseCuts(t *testing.T) {
	reset := errors.New("connection reset")
	tests := map[string]struct {
		body     io.Reader
		length   int64
		client   error
		canceled bool
		want     string
		gone     bool
	}{
		"C098 shorter than announced":           {body: strings.NewReader("12"), length: 3, want: "shorter"},
		"longer than announced":                 {body: strings.NewReader("1234"), length: 3, want: "longer"},
		"the upstream fails, length known":      {body: iotest.ErrReader(reset), length: 3, want: "reading the response body: connection reset"},
		"the upstream fails, length unknown":    {body: iotest.ErrReader(reset), length: -1, want: "reading the response body: connection reset"},
		"an end in the middle of a chunk":       {body: iotest.ErrReader(io.ErrUnexpectedEOF), length: -1, want: "unexpected EOF"},
		"zuul 125 the client cannot be written": {body: strings.NewReader("123"), length: 3, client: reset, want: "client went away", gone: true},
		"C113 C126 the client left":             {body: iotest.ErrReader(reset), length: -1, canceled: true, want: "client went away", gone: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &step{ResponseRecorder: httptest.NewRecorder(), fail: test.client}
			c := contextFor(t, w)
			if test.canceled {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				c.Request = c.Request.WithContext(ctx)
			}
			released := &closeCounter{Reader: test.body}
			c.Receive(&http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: released, ContentLength: test.length})
			err := filtertest.Run(t, c, post.SendResponse(post.SendResponseSettings{}))
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, filters.ErrClientGone) != test.gone {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if !c.Aborted() {
				t.Error("the response looks complete")
			}
			if sent := strings.Join(w.log, ""); strings.Contains(sent, "1234") {
				t.Errorf("sent too much: %s", sent)
			}
			c.Release()
			if released.closed == 0 {
				t.Error("the upstream's response was not released")
			}
		})
	}
}

type closeCounter struct {
	io.Reader
	closed int
}

func (c *closeCounter) Close() error { c.closed++; return nil }

func TestSendResponseTrailers(t *testing.T) {
	w := httptest.NewRecorder()
	c := contextFor(t, w)
	c.IgnoreHeaders("X-Secret")
	trailer := http.Header{"X-Sum": nil, "X-Secret": nil}
	c.Receive(&http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Trailer: trailer,
		Body: io.NopCloser(io.MultiReader(strings.NewReader("body"), atEnd(func() {
			trailer["X-Sum"], trailer["X-Late"] = []string{"1"}, []string{"2"}
			trailer["X-Secret"], trailer["Content-Length"], trailer["Set-Cookie"] = []string{"s"}, []string{"9"}, []string{"a=b"}
			trailer["X-Split"] = []string{"1\r\nX-B: 2"}
		}))),
	})
	if err := filtertest.Run(t, c, post.SendResponse(post.SendResponseSettings{})); err != nil {
		t.Fatal(err)
	}
	res := w.Result()
	defer func() { _ = res.Body.Close() }()
	if got := w.Header()["Trailer"]; !slices.Equal(got, []string{"X-Sum"}) {
		t.Errorf("announced %q", got)
	}
	if diff := cmp.Diff(http.Header{"X-Sum": {"1"}, "X-Late": {"2"}}, res.Trailer); diff != "" {
		t.Errorf("trailer: -want +got\n%s", diff)
	}
}

// atEnd calls itself when it is read, and is empty.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) { f(); return 0, io.EOF }

// discard is a client whose header map is kept, so that only the filter's own
// allocations are measured.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Flush()                      {}
func (d discard) Write(p []byte) (int, error) { return len(p), nil }

func TestSendResponseAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	filter, err := post.SendResponse(post.SendResponseSettings{}).New(nil)
	if err != nil {
		t.Fatal(err)
	}
	hundredK := make([]byte, 100_000)
	body := &again{bytes.NewReader(hundredK)}
	w := discard{http.Header{}}
	c := contextFor(t, w)
	c.Response = &filters.Response{Status: 200, Body: body, Header: http.Header{
		"Content-Type": {"application/json"}, "Date": {"Mon, 01 Jan 2024 00:00:00 GMT"}, "Etag": {`"1"`}, "Vary": {"Accept", "Origin"},
	}}
	for name, row := range map[string]struct {
		length int64
		most   float64
	}{
		"length known":   {100_000, 2}, // the Content-Length field and its digits
		"length unknown": {-1, 0},
	} {
		c.Response.ContentLength = row.length
		got := testing.AllocsPerRun(100, func() {
			clear(w.header)
			body.Reset(hundredK)
			if err := filter.Run(c); err != nil {
				t.Fatal(err)
			}
		})
		if got > row.most {
			t.Errorf("%s: %v allocations, at most %v are due", name, got, row.most)
		}
	}
}

// again is a body that can be read again after Reset.
type again struct{ *bytes.Reader }

func (*again) Close() error { return nil }
