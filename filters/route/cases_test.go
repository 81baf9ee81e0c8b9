package route_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/route"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/upstream"
	"github.com/gozer-gateway/gozer/lb"
)

// way is one of the two kinds of route that lead to a server.
type way struct {
	name   string
	filter filters.Spec
	aim    func(*filters.Context)
}

type single struct{ service *route.Service }

func (s single) Service(string) *route.Service { return s.service }

// ways lead to the server at addr over real connections.
func ways(t *testing.T, addr string) []way {
	t.Helper()
	transport := upstream.New(http1.TransportSettings{ConnectTimeout: time.Minute, ReadTimeout: time.Minute})
	t.Cleanup(transport.CloseIdle)
	server, err := lb.ParseServer(addr)
	if err != nil {
		t.Fatal(err)
	}
	balancer := lb.NewBalancer("up", lb.BalancerSettings{})
	balancer.SetServers([]lb.Server{server})
	service := &route.Service{
		Command: command("up"),
		Balance: &lb.Command{Balancer: balancer, Transport: transport, Retry: lb.DefaultRetryPolicy()},
	}
	return []way{
		{"URL route", route.SimpleHostRouting(route.SimpleHostSettings{Transport: transport}), func(c *filters.Context) { c.Out.URL = &url.URL{Scheme: "http", Host: addr} }},
		{"service route", route.RibbonRouting(single{service}), func(c *filters.Context) { c.ServiceID = "up" }},
	}
}

func (w way) run(t *testing.T, c *filters.Context) {
	t.Helper()
	w.aim(c)
	if err := filtertest.Run(t, c, w.filter); err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
}

// arrival is what a server gets of a request.
type arrival struct {
	Method, Target, Type, Body string
	Length                     int64
	Chunked                    bool
}

func record(into *arrival) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		*into = arrival{r.Method, r.RequestURI, r.Header.Get("Content-Type"), string(body), r.ContentLength, r.TransferEncoding != nil}
	})
}

// Queries are not parsed on their way, so nothing about them can change.
func TestQueriesArriveAsSent(t *testing.T) {
	var got arrival
	b := backendtest.Start(t, record(&got))
	for name, query := range map[string]string{
		"zuul 76 two parameters":             "a=1234&b=5678",
		"zuul 77 no value":                   "wsdl",
		"zuul 78 encoded number sign":        "foo=weird%23chars",
		"zuul 79 colon and encoded feed":     "foo:bar=baz&foobar=bam&foo%0Cbar=bat",
		"zuul 157 empty value":               "wsdl=",
		"zuul 157 repeated, empty, no value": "a=123&b=234&b=345&c&d=",
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range ways(t, b.Addr) {
				w.run(t, filtertest.New(t, "GET /x?"+query))
				if want := "/x?" + query; got.Target != want {
					t.Errorf("%s: the server saw %q, want %q", w.name, got.Target, want)
				}
			}
		})
	}
}

const form = "application/x-www-form-urlencoded"

// parts makes a multipart body; a value with a file name is "file name|content".
func parts(t *testing.T, fields ...[2]string) (contentType, body string) {
	t.Helper()
	var b strings.Builder
	m := multipart.NewWriter(&b)
	for _, f := range fields {
		var w io.Writer
		var err error
		if file, content, isFile := strings.Cut(f[1], "|"); isFile {
			f[1] = content
			w, err = m.CreateFormFile(f[0], file)
		} else {
			w, err = m.CreateFormField(f[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return m.FormDataContentType(), b.String()
}

// Forms are not rebuilt: type, bytes, length and query arrive as they were sent.
func TestFormsArriveAsSent(t *testing.T) {
	field := func(values ...string) [][2]string {
		var fields [][2]string
		for _, v := range values {
			fields = append(fields, [2]string{"uid", v})
		}
		return fields
	}
	tests := []struct {
		name, request string
		multipart     [][2]string
		kind, body    string
		chunked       bool
	}{
		{"zuul 102 what encoding would change", "POST /x", nil, form, "foo=(bar)", false},
		{"zuul 105 form", "POST /x", nil, form, "foo=bar", false},
		{"zuul 105 form with a charset", "POST /x", nil, form + ";charset=UTF-8", "foo=b%C3%A9r", false},
		{"zuul 105 112 113 field and file", "POST /x", [][2]string{{"name", "value"}, {"file", "hello.txt|hello"}}, "", "", false},
		{"zuul 106 parameters in query and form", "POST /form?uriParam=uriValue", nil, form, "foo=bar", false},
		{"zuul 107 113 file of unknown length", "POST /x", [][2]string{{"file", "big|" + strings.Repeat("x", 100_000)}}, "", "", true},
		{"zuul 108 a field that the query has too", "POST /x?uid=12&uid=34", field("65"), "", "", false},
		{"zuul 109 with the same value", "POST /x?uid=hello%20world", field("hello world"), "", "", false},
		{"zuul 110 with no value", "POST /x?uid", field("foo", "bar"), "", "", false},
		{"zuul 111 five parts", "POST /x", append(field("a", "b|1", "c"), [2]string{"d", "e"}, [2]string{"f", "g|2"}), "", "", false},
		{"zuul 158 POST form", "POST /x", nil, form, "one=1&two=2&three", false},
		{"zuul 158 PUT form", "PUT /x?path=one&key1=val1&path=two", nil, form, "one=1", false},
		{"zuul 158 JSON", "POST /x", nil, "application/json", `{"one":1}`, false},
		{"zuul 158 no type", "POST /x", nil, "", "one=1", false},
	}
	var got arrival
	b := backendtest.Start(t, record(&got))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kind, body := test.kind, test.body
			if test.multipart != nil {
				kind, body = parts(t, test.multipart...)
			}
			options := []filtertest.Option{filtertest.Body(body)}
			if kind != "" {
				options = append(options, filtertest.Header("Content-Type", kind))
			}
			method, target, _ := strings.Cut(test.request, " ")
			want := arrival{method, target, kind, body, int64(len(body)), false}
			if test.chunked {
				want.Length, want.Chunked = -1, true
			}
			for _, w := range ways(t, b.Addr) {
				c := filtertest.New(t, test.request, options...)
				c.Out.ContentLength = want.Length
				w.run(t, c)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: -want +got\n%s", w.name, diff)
				}
			}
		})
	}
}

func TestEveryMethodMayHaveABody(t *testing.T) {
	var got arrival
	b := backendtest.Start(t, record(&got))
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET", "OPTIONS", "PROPFIND"} {
		t.Run("zuul 90 103 104 115 "+method, func(t *testing.T) {
			for _, w := range ways(t, b.Addr) {
				w.run(t, filtertest.New(t, method+" /foo?id=bar", filtertest.Body("why")))
				want := arrival{Method: method, Target: "/foo?id=bar", Body: "why", Length: 3}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: -want +got\n%s", w.name, diff)
				}
			}
		})
	}
}

func TestAnswersAreNotInterpreted(t *testing.T) {
	t.Run("zuul 114 gzip stays gzip", func(t *testing.T) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, werr := io.WriteString(z, "hello")
		if err := z.Close(); err != nil || werr != nil {
			t.Fatal(werr, err)
		}
		b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		}))
		for _, w := range ways(t, b.Addr) {
			c := filtertest.New(t, "GET /x", filtertest.Header("Accept-Encoding", "gzip"))
			w.run(t, c)
			got, err := io.ReadAll(c.Response.Body)
			if err != nil || !bytes.Equal(got, packed.Bytes()) || c.Response.Header.Get("Content-Encoding") != "gzip" {
				t.Errorf("%s: %v, %x, %v", w.name, c.Response.Header, got, err)
			}
		}
	})
	t.Run("zuul 114 a redirect is the client's", func(t *testing.T) {
		b := backendtest.Start(t, http.RedirectHandler("/elsewhere", http.StatusFound))
		for n, w := range ways(t, b.Addr) {
			c := filtertest.New(t, "GET /x")
			w.run(t, c)
			if c.Response.Status != http.StatusFound || c.Response.Header.Get("Location") != "/elsewhere" || b.Requests() != int64(n+1) {
				t.Errorf("%s: %d %v, %d requests", w.name, c.Response.Status, c.Response.Header, b.Requests())
			}
		}
	})
	t.Run("zuul 87 Content-Encoding in any case", func(t *testing.T) {
		b := backendtest.StartRaw(t, backendtest.Step{
			Reply: "HTTP/1.1 200 OK\r\ncoNTent-encODING: gzip\r\nContent-Length: 0\r\n\r\n", Close: true,
		})
		for _, w := range ways(t, b.Addr) {
			c := filtertest.New(t, "GET /x")
			w.run(t, c)
			if got := c.Response.Header.Get("Content-Encoding"); got != "gzip" {
				t.Errorf("%s: Content-Encoding %q", w.name, got)
			}
		}
	})
}

// byMetadata picks the first server that is marked with the key, or else any.
func byMetadata(key any, servers []*lb.Server) *lb.Server {
	for _, s := range servers {
		if s.Metadata["role"] == key {
			return s
		}
	}
	return servers[0]
}

func TestLoadBalancerKeyReachesTheRule(t *testing.T) {
	canary := filters.Func("Canary", filters.Pre, 6, func(c *filters.Context) error {
		if c.Request.Header.Get("X-Canary-Test") == "true" {
			c.LoadBalancerKey = "canary"
		}
		return nil
	})
	balancer := lb.NewBalancer("users", lb.BalancerSettings{NewRule: func() lb.Rule { return lb.RuleFunc(byMetadata) }})
	balancer.SetServers([]lb.Server{
		{Host: "old", Port: 80},
		{Host: "new", Port: 80, Metadata: map[string]string{"role": "canary"}},
	})
	for name, tc := range map[string]struct{ header, want string }{
		"zuul 146 with the header":    {"true", "new:80"},
		"zuul 146 without the header": {"", "old:80"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &wire{}
			service := &route.Service{
				Command: command("users"),
				Balance: &lb.Command{Balancer: balancer, Transport: w},
			}
			c := filtertest.New(t, "GET /x", filtertest.Header("X-Canary-Test", tc.header))
			c.ServiceID = "users"
			if err := filtertest.Run(t, c, canary, route.RibbonRouting(single{service})); err != nil {
				t.Fatal(err)
			}
			if got := w.request.URL.Host; got != tc.want {
				t.Errorf("sent to %s, want %s", got, tc.want)
			}
		})
	}
}
