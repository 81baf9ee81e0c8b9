package e2e_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// The rows of the HTTP checklist about HTTP/2 (H) that concern single frames and heads.

func TestH01Preface(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2)
	t.Run("H01 in small pieces", func(t *testing.T) {
		c := dial(t, g.Proxy)
		crawl(c, http2.ClientPreface)
		newH2(t, c).ask(get2("/url/x")...).reflected(t).wantTarget(t, "/x")
	})
	t.Run("H01 together with what follows", func(t *testing.T) {
		c := dial(t, g.Proxy)
		write(t, c, http2.ClientPreface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		newH2(t, c).ask(get2("/url/x")...).reflected(t).wantTarget(t, "/x")
	})
	t.Run("H01 another one", func(t *testing.T) {
		got := g.talk("PRI * HTTP/2.0\r\n\r\nSO\r\n\r\n")
		if got != "" && !strings.HasPrefix(got, "HTTP/1.1 505 ") && !strings.HasPrefix(got, "HTTP/1.1 400 ") {
			t.Errorf("answered with %q", got)
		}
	})
	t.Run("H01 not first", func(t *testing.T) {
		c := dial(t, g.Proxy)
		in := bufio.NewReader(c)
		write(t, c, lines("GET /url/x HTTP/1.1", "Host: a"))
		nextAnswer(t, in, http.MethodGet).wantStatus(t, http.StatusOK)
		write(t, c, http2.ClientPreface)
		if a := nextAnswer(t, in, http.MethodGet); a.Status != http.StatusHTTPVersionNotSupported && a.Status != http.StatusBadRequest && onNative() {
			t.Errorf("answered with %d", a.Status)
		}
	})
	t.Run("H01 C095 the old upgrade", func(t *testing.T) {
		a := g.wire(http.MethodGet, lines("GET /url/x HTTP/1.1", "Host: a", "Connection: Upgrade, HTTP2-Settings, close", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"))
		r := a.reflected(t)
		r.wantField(t, "Upgrade")
		r.wantField(t, "HTTP2-Settings")
	})
	t.Run("H01 not wanted", func(t *testing.T) {
		g := startGateway(t, bothYAML(m.Addr))
		if got := g.talk(http2.ClientPreface); !strings.HasPrefix(got, "HTTP/1.1 505 ") && onNative() {
			t.Errorf("answered with %q", got)
		}
	})
}

func TestH04Settings(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2+"gateway.http2: {max-concurrent-streams: 7, max-frame-size: 32KB, stream-window: 100KB, header-table-size: 5KB}\n")
	c := g.dialH2(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1<<24 - 1}) // acknowledged
	for id, want := range map[http2.SettingID]uint32{
		http2.SettingMaxConcurrentStreams: 7, http2.SettingMaxFrameSize: 32 << 10, http2.SettingInitialWindowSize: 100 << 10, http2.SettingHeaderTableSize: 5 << 10,
	} {
		if c.saw[id] != want {
			t.Errorf("announced %v %d, want %d", id, c.saw[id], want)
		}
	}
	c.ask(get2("/url/x")...).reflected(t).wantTarget(t, "/x")
	for name, s := range map[string]http2.Setting{
		"H04 frame size 0":             {ID: http2.SettingMaxFrameSize, Val: 0},
		"H04 frame size 16383":         {ID: http2.SettingMaxFrameSize, Val: 1<<14 - 1},
		"H04 C233 frame size 16777216": {ID: http2.SettingMaxFrameSize, Val: 1 << 24},
		"H04 push 2":                   {ID: http2.SettingEnablePush, Val: 2},
		"H04 window 2147483648":        {ID: http2.SettingInitialWindowSize, Val: 1 << 31},
	} {
		t.Run(name, func(t *testing.T) {
			c := g.dialH2()
			c.tb = t
			c.must(c.WriteSettings(s))
			c.wantGoAway(http2.ErrCodeProtocol, http2.ErrCodeFlowControl)
		})
	}
	t.Run("H04 too long a frame", func(t *testing.T) {
		c := g.dialH2()
		c.tb = t
		c.must(c.WriteData(c.open(false, post2("/url/x")...), true, make([]byte, 32<<10+1)))
		c.wantGoAway(http2.ErrCodeFrameSize)
	})
}

// What is malformed is refused, reaches nobody, and leaves the connection to the others.
func TestH2MalformedStreams(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2)
	pseudo := func(fields ...string) []string { return fields }
	for name, fields := range map[string][]string{
		"H08 upper case":             get2("/url/x", "X-A: 1"),
		"H08 space in a name":        get2("/url/x", "x a: 1"),
		"H08 colon in a name":        get2("/url/x", "x:a: 1"),
		"H08 control in a name":      get2("/url/x", "x\x01: 1"),
		"H08 H16 CR LF in a value":   get2("/url/x", "x-a: 1\r\nx-b: 2"),
		"H08 LF in a value":          get2("/url/x", "x-a: 1\nx-b: 2"),
		"H08 NUL in a value":         get2("/url/x", "x-a: 1\x00"),
		"H08 leading blank":          get2("/url/x", "x-a:  1"),
		"H08 trailing tab":           get2("/url/x", "x-a: 1\t"),
		"H09 connection":             get2("/url/x", "connection: close"),
		"H09 keep-alive":             get2("/url/x", "keep-alive: 1"),
		"H09 proxy-connection":       get2("/url/x", "proxy-connection: close"),
		"H09 transfer-encoding":      get2("/url/x", "transfer-encoding: chunked"),
		"H09 upgrade":                get2("/url/x", "upgrade: websocket"),
		"H09 C116 te":                get2("/url/x", "te: gzip"),
		"H11 behind a field":         pseudo(":method: GET", ":scheme: http", "x-a: 1", ":path: /url/x", ":authority: a"),
		"H11 twice":                  get2("/url/x", ":path: /url/y"),
		"H11 unknown":                get2("/url/x", ":color: red"),
		"H11 C119 of the response":   get2("/url/x", ":status: 200"),
		"H12 no path":                pseudo(":method: GET", ":scheme: http", ":authority: a"),
		"H12 empty path":             get2(""),
		"H12 C121 path without /":    get2("url/x"),
		"H12 C121 * of GET":          get2("*"),
		"H12 absolute path":          get2("http://other.test/url/x"),
		"H12 blank in the path":      get2("/url/x y"),
		"H12 fragment in the path":   get2("/url/x#y"),
		"H12 no scheme":              pseudo(":method: GET", ":authority: a", ":path: /url/x"),
		"H12 odd scheme":             pseudo(":method: GET", ":scheme: h ttp", ":authority: a", ":path: /url/x"),
		"H12 another Host":           get2("/url/x", "host: other.test"),
		"H12 neither Host nor auth":  pseudo(":method: GET", ":scheme: http", ":path: /url/x"),
		"H12 user in the authority":  pseudo(":method: GET", ":scheme: http", ":authority: u@a", ":path: /url/x"),
		"H12 path in the authority":  pseudo(":method: GET", ":scheme: http", ":authority: a/b", ":path: /url/x"),
		"H11 no method":              pseudo(":scheme: http", ":authority: a", ":path: /url/x"),
		"H16 blanks in the method":   pseudo(":method: GET /url/y HTTP/1.1", ":scheme: http", ":authority: a", ":path: /url/x"),
		"H14 RFC 8441 not announced": pseudo(":method: CONNECT", ":protocol: websocket", ":scheme: http", ":authority: a", ":path: /url/x"),
		"H14 CONNECT with a path":    pseudo(":method: CONNECT", ":scheme: http", ":authority: a", ":path: /url/x"),
		"H07 length without a body":  post2("/url/x", "content-length: 5"),
		"H07 length that is none":    post2("/url/x", "content-length: +0"),
		"H07 two lengths":            post2("/url/x", "content-length: 0", "content-length: 0"),
		"C001 unsafe path":           get2("/url/%00"),
		"C242 dots behind a slash":   get2("/url/..%2fx"),
	} {
		t.Run(name, func(t *testing.T) {
			c := g.dialH2()
			c.tb = t
			id := c.open(true, fields...)
			if a, err := c.follow(id); err == nil {
				a.wantRefused(t)
			} else if err != errGoneAway { //nolint:errorlint // follow's own
				t.Errorf("neither refused nor GOAWAY: %v", err)
			} else {
				return
			}
			c.ask(get2("/url/canary")...).reflected(t).wantTarget(t, "/canary")
		})
	}
	if c := g.dialH2(); c.saw[http2.SettingEnableConnectProtocol] != 0 {
		t.Error("H14 extended CONNECT is announced")
	}
	if a := g.dialH2().ask(":method: CONNECT", ":authority: a:80"); a.Status != http.StatusMethodNotAllowed {
		t.Errorf("H14 CONNECT is answered with %d", a.Status)
	}
}

func TestH2MalformedBodies(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2)
	for name, send := range map[string]func(c *h2client) uint32{
		"H07 longer than its length": func(c *h2client) uint32 {
			id := c.open(false, post2("/url/x", "content-length: 3")...)
			c.must(c.WriteData(id, true, []byte("12345")))
			return id
		},
		"H07 C235 shorter than its length": func(c *h2client) uint32 {
			id := c.open(false, post2("/service/x", "content-length: 10")...)
			c.must(c.WriteData(id, true, []byte("12345")))
			return id
		},
		"H06 pseudo-field in a trailer": func(c *h2client) uint32 {
			id := c.open(false, post2("/url/x")...)
			c.must(c.WriteData(id, false, []byte("12345")))
			c.headers(id, true, ":path: /url/y")
			return id
		},
		"H06 second head without an end": func(c *h2client) uint32 {
			id := c.open(false, post2("/url/x")...)
			c.must(c.WriteData(id, false, []byte("12345")))
			c.headers(id, false, "x-a: 1")
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := g.dialH2()
			c.tb = t
			a, err := c.follow(send(c))
			if err == nil {
				a.wantRefused(t)
			} else if err != errGoneAway { //nolint:errorlint // follow's own
				t.Errorf("neither refused nor GOAWAY: %v", err)
			}
		})
	}
	g.dialH2().ask(get2("/url/canary")...).reflected(t).wantTarget(t, "/canary")
	if n := m.requests.Load(); n != 1 {
		t.Errorf("the upstream took %d of them for whole", n-1)
	}
}

// What HTTP/2 says in its own way is said in HTTP/1.1's to the upstream.
func TestH2Translation(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2+allPass+"zuul.add-host-header: true\n")
	c := g.dialH2()
	for name, tt := range map[string]struct{ sent, want []string }{
		"H10 crumbs of a cookie":      {[]string{"cookie: a=1", "cookie: b=2", "cookie: c=3"}, []string{"Cookie: a=1; b=2; c=3"}},
		"H12 Host of the authority":   {nil, []string{"Host: gateway.test"}},
		"H12 Host like the authority": {[]string{"host: gateway.test"}, []string{"Host: gateway.test"}},
		"S27 Via":                     {nil, []string{"Via: 2.0 gozer"}},
		"H09 te":                      {[]string{"te: trailers"}, []string{"TE: trailers"}},
		"no body":                     {nil, []string{"Content-Length", "Transfer-Encoding"}},
		"lines keep their order":      {[]string{"x-a: 1", "x-b: 2", "x-a: 3"}, []string{"X-A: 1", "X-A: 3", "X-B: 2"}},
		"beyond ASCII":                {[]string{"x-a: \xe4"}, []string{"X-A: \xe4"}},
		"proto and port":              {nil, []string{"X-Forwarded-Proto: http", "X-Forwarded-Host: gateway.test"}},
	} {
		for _, kind := range kinds {
			t.Run(name+" "+kind, func(t *testing.T) {
				c.tb = t
				r := c.ask(get2("/"+kind+"/x?y=1", tt.sent...)...).reflected(t)
				r.wantTarget(t, "/x?y=1")
				r.wantLines(t, tt.want)
				for _, f := range r.Fields {
					if strings.HasPrefix(f, ":") {
						t.Errorf("C119 the upstream saw %q", f)
					}
				}
			})
		}
	}
	c.tb = t
	c.ask(":method: GET", ":scheme: http", ":path: /url/x", "host: h.test").reflected(t).wantField(t, "Host", "h.test")
	if r := c.ask(":method: OPTIONS", ":scheme: http", ":authority: a", ":path: *"); r.Status != http.StatusOK {
		t.Errorf("H12 OPTIONS * is answered with %d", r.Status)
	}
	for _, length := range []string{"", "content-length: 10"} {
		fields := post2("/service/x")
		if length != "" {
			fields = append(fields, length)
		}
		id := c.open(false, fields...)
		c.must(c.WriteDataPadded(id, false, []byte("12345"), make([]byte, 9)))
		c.must(c.WriteData(id, true, []byte("67890")))
		r := c.await(id).reflected(t)
		if got := r.payload(t); got != "1234567890" {
			t.Errorf("%q arrived", got)
		}
		if length == "" {
			r.wantField(t, "Transfer-Encoding", "chunked")
		} else {
			r.wantField(t, "Content-Length", "10")
		}
	}
}

func TestH20Trailers(t *testing.T) {
	t.Parallel()
	raw := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\nX-Late: 2\r\n\r\n"
	b := backendtest.StartRaw(t, backendtest.Step{Reply: raw, Close: true})
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+"zuul.routes.raw: {path: /raw/**, url: \"http://"+b.Addr+"\"}\n"+withH2)
	c := g.dialH2()
	a := c.ask(get2("/raw/x", "te: trailers")...)
	if a.Body != "abc" || a.Trailer.Get("X-Sum") != "1" {
		t.Errorf("H20 %q arrived, with the trailer %v", a.Body, a.Trailer)
	}
	if late := a.Trailer.Get("X-Late"); onNative() && late != "2" {
		t.Errorf("H20 a trailer that was not announced arrived as %q", late)
	}
	id := c.open(false, post2("/url/x", "trailer: x-sum")...)
	c.must(c.WriteData(id, false, []byte("abc")))
	c.headers(id, true, "x-sum: 1")
	if r := c.await(id).reflected(t); !strings.HasSuffix(r.Body, "0\r\nX-Sum: 1\r\n\r\n") {
		t.Errorf("H20 the request arrived as %q", r.Body)
	}
}

func TestH15Interim(t *testing.T) {
	t.Parallel()
	hints := backendtest.StartRaw(t, backendtest.Step{Reply: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Close: true})
	switches := backendtest.StartRaw(t, backendtest.Step{Reply: "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", Close: true})
	g := startGateway(t, bothYAML(hints.Addr)+"zuul.routes.raw: {path: /raw/**, url: \"http://"+switches.Addr+"\"}\n"+withH2)
	for _, kind := range kinds {
		a := g.dialH2().ask(get2("/" + kind + "/x")...)
		if a.Status != http.StatusOK || a.Body != "ok" || a.Header.Get("Link") != "" {
			t.Errorf("H15 %d %q %v", a.Status, a.Body, a.Header)
		}
		if onNative() && (len(a.Interim) != 1 || a.Interim[0] != http.StatusEarlyHints) {
			t.Errorf("H15 interim responses %v", a.Interim)
		}
	}
	if a := g.dialH2().ask(get2("/raw/x")...); a.Status != http.StatusBadGateway {
		t.Errorf("H15 101 became %d", a.Status)
	}
}

func TestH2ExpectContinue(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2)
	c := g.dialH2()
	id := c.open(false, post2("/url/x", "expect: 100-continue")...)
	for {
		f, err := c.ReadFrame()
		c.must(err)
		if h, ok := f.(*http2.MetaHeadersFrame); ok {
			if s := h.PseudoValue("status"); s != "100" || h.StreamEnded() {
				t.Fatalf("status %s", s)
			}
			break
		}
	}
	c.must(c.WriteData(id, true, []byte("abc")))
	r := c.await(id).reflected(t)
	if got := r.payload(t); got != "abc" {
		t.Errorf("%q arrived", got)
	}
	r.wantField(t, "Expect")
	if a := c.ask(get2("/url/x", "expect: x")...); a.Status != http.StatusExpectationFailed {
		t.Errorf("an unknown expectation is answered with %d", a.Status)
	}
}
