package e2e_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// message is a response as it arrived, head and body apart.
func message(t *testing.T, all string) (status string, head reflection, body string) {
	t.Helper()
	text, body, whole := strings.Cut(all, "\r\n\r\n")
	if !whole {
		t.Fatalf("no whole head in %.300q", all)
	}
	fields := strings.Split(text, "\r\n")
	return fields[0], reflection{Fields: fields[1:]}, body
}

func TestResponsesGoBack(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t))+allPass)
	same := func(fields ...string) [2][]string { return [2][]string{fields, fields} }
	becomes := func(sent, want []string) [2][]string { return [2][]string{sent, want} }
	const ok = "HTTP/1.1 200 OK"
	for _, tt := range []struct {
		name, line, wantLine string      // the latter without a reason that only one engine knows
		fields               [2][]string // sent, and as the client has to see them
	}{
		{"M06 from HTTP/1.0", "HTTP/1.0 200 OK", "HTTP/1.1 200 OK", same()},
		{"M16 no reason", "HTTP/1.1 200 ", "HTTP/1.1 200 OK", same()},
		{"S42 M17 a code without a name", "HTTP/1.1 299 Odd", "HTTP/1.1 299 ", same()},
		{"S42 the highest code", "HTTP/1.1 999 Odd", "HTTP/1.1 999 ", same()},
		{"S01 an odd name", "", "", same("!#$%&'*+-.^_`|~09aZ: odd")},
		{"S02 order of equal names", "", "", same("X-A: 2", "X-B: 0", "X-A: 1")},
		{"S08 Date stays", "", "", same("Date: Mon, 01 Jan 2024 00:00:00 GMT")},
		{"S12 S13 fields of one hop", "", "", becomes(
			[]string{"Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Proxy-Connection: close", "TE: trailers", "Upgrade: h2c", "X-Stay: 2"},
			[]string{"X-Hop", "Keep-Alive", "Proxy-Connection", "Te", "Upgrade", "X-Stay: 2", "Connection: close"})},
		{"S19 the representation", "", "", same(`ETag: W/"1"`, "Last-Modified: yesterday", "Content-Language: de,  en", "Content-Location: /a%2fb", "Accept-Ranges: none", `Content-Disposition: attachment; filename="a"`)},
		{"S19 the endpoint", "", "", same("Server: up/1.0 (x)", "X-Powered-By: y")},
		{"S22 coded twice", "", "", same("Content-Encoding: gzip, br", "Content-Type: text/plain;charset=utf-16")},
		{"S22 nothing about the content", "", "", same("Content-Type", "Content-Encoding", "Content-Language", "Last-Modified")},
		{"S34 Allow", "HTTP/1.1 405 Method Not Allowed", "HTTP/1.1 405 Method Not Allowed", same("Allow: GET, FOO")},
		{"S35 Location, relative", "HTTP/1.1 302 Found", "HTTP/1.1 302 Found", same("Location: y?z#f")},
		{"S35 Location, absolute path", "HTTP/1.1 301 Moved Permanently", "HTTP/1.1 301 Moved Permanently", same("Location: /y")},
		{"S35 Location, foreign", "HTTP/1.1 302 Found", "HTTP/1.1 302 Found", same("Location: http://elsewhere.test/a%2fb")},
		{"S35 Location, empty", "HTTP/1.1 302 Found", "HTTP/1.1 302 Found", same("Location:")},
		{"S36 Retry-After of the upstream", "HTTP/1.1 503 Service Unavailable", "HTTP/1.1 503 Service Unavailable", same("Retry-After: 120")},
		{"S37 challenges", "HTTP/1.1 401 Unauthorized", "HTTP/1.1 401 Unauthorized", same(`WWW-Authenticate: Basic realm="a,  b",charset="UTF-8"`, "WWW-Authenticate: Digest x")},
		{"S38 Proxy-Authenticate", "", "", becomes([]string{"Proxy-Authenticate: Basic"}, []string{"Proxy-Authenticate"})},
		{"S40 Vary", "", "", same("Vary: Origin, *")},
		{"S40 no Vary", "", "", same("Vary")},
		{"S41 a range", "HTTP/1.1 206 Partial Content", "HTTP/1.1 206 Partial Content", same("Content-Range: bytes 0-1/5")},
		{"S41 no such range", "HTTP/1.1 416 Range Not Satisfiable", "HTTP/1.1 416 Requested Range Not Satisfiable", same("Content-Range: bytes */5")},
		{"S41 condition failed", "HTTP/1.1 412 Precondition Failed", "HTTP/1.1 412 Precondition Failed", same(`ETag: "1"`)},
		{"K01 directives", "", "", same(`Cache-Control: private="x", foo=bar, max-age=0`)},
		{"K02 S18 no-transform", "", "", becomes([]string{"Cache-Control: no-transform"}, []string{"Cache-Control: no-transform", "Content-Encoding", "Content-Length: 2"})},
		{"K04 age and expiry", "", "", same("Age: 10", "Expires: 0", "Pragma: no-cache", "Warning: 110 - x")},
		{"K04 no Age", "", "", same("Age", "Expires", "Cache-Control", "ETag")},
		{"R01 Priority", "", "", same("Priority: u=1, i, x=?1")},
		{"Z02 cookies", "", "", same("Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "Set-Cookie: b=2", "Set-Cookie: a=3")},
		{"Z05 CORS", "", "", same("Access-Control-Allow-Origin: https://o.test", "Vary: Origin")},
	} {
		for _, kind := range kinds {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				t.Parallel()
				reply := []string{cmp.Or(tt.line, ok), "Content-Length: 2"}
				for _, field := range tt.fields[0] {
					if strings.Contains(field, ":") {
						reply = append(reply, field)
					}
				}
				status, head, body := message(t, g.talk(lines("GET "+say(kind, lines(reply...)+"ok")+" HTTP/1.1",
					"Host: gateway.test", "Accept-Encoding: gzip", "Connection: close")))
				if !strings.HasPrefix(status, cmp.Or(tt.wantLine, ok)) || body != "ok" {
					t.Errorf("%q with %q, want %s", status, body, cmp.Or(tt.wantLine, ok))
				}
				head.wantLines(t, tt.fields[1])
			})
		}
	}
}

// S08: a response without Date gets one.
func TestDate(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	for _, kind := range kinds {
		_, head, _ := message(t, g.talk(lines("GET "+say(kind, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")+" HTTP/1.1", "Host: gateway.test", "Connection: close")))
		values := head.Values("Date")
		if len(values) != 1 {
			t.Fatalf("S08 %s: Date %q", kind, values)
		}
		if at, err := http.ParseTime(values[0]); err != nil || time.Since(at).Abs() > patience {
			t.Errorf("S08 %s: Date %q, %v", kind, values[0], err)
		}
	}
}

func TestInterimResponses(t *testing.T) {
	t.Parallel()
	nativeOnly(t)
	g := startGateway(t, bothYAML(startScript(t)))
	const final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, kind := range kinds {
		for name, tt := range map[string]struct {
			say  string
			want []string // status lines
		}{
			"S43 100 is of one hop":   {"HTTP/1.1 100 Continue\r\n\r\n" + final, nil},
			"S43 several":             {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + final, []string{"103 Early Hints", "103 Early Hints"}},
			"S43 unknown ones":        {"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 199 Odd\r\n\r\n" + final, []string{"102 Processing", "199 "}},
			"S43 fields of one hop":   {"HTTP/1.1 103 Early Hints\r\nConnection: X-Hop\r\nX-Hop: 1\r\nLink: </a>\r\n\r\n" + final, []string{"103 Early Hints"}},
			"S43 none before a final": {final, nil},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				target := "GET " + say(kind, tt.say)
				rest := g.talk(lines(target+" HTTP/1.1", "Host: gateway.test", "Connection: close"))
				for _, want := range append(tt.want, "200 OK") {
					var status string
					var head reflection
					status, head, rest = message(t, rest)
					head.wantLines(t, []string{"X-Hop"})
					if status != "HTTP/1.1 "+want {
						t.Errorf("%q, want %s", status, want)
					}
				}
				if rest != "ok" {
					t.Errorf("body %q", rest)
				}
				if all := g.talk(lines(target+" HTTP/1.0", "Host: gateway.test")); strings.Contains(all, "HTTP/1.1 1") || !strings.HasSuffix(all, "ok") {
					t.Errorf("S43 to HTTP/1.0: %q", all)
				}
			})
		}
	}
}

// What an upstream must not say is 502, its connection is not used again, and the next
// request has its own answer.
func TestRefusedResponses(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	const ok, smuggled = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nX-Smuggled: 1\r\nContent-Length: 0\r\n\r\n"
	for name, what := range map[string]string{
		"M16 status of two digits":  "HTTP/1.1 20 \r\nContent-Length: 0\r\n\r\n",
		"M32 M31 lengths differ":    ok + "Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
		"M32 length with a sign":    ok + "Content-Length: +5\r\n\r\nhello",
		"S20 S43 switch unasked":    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
		"S42 status 99":             "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n",
		"S42 status 1000":           "HTTP/1.1 1000 Odd\r\nContent-Length: 0\r\n\r\n",
		"S04 M02 bare CR, M55":      ok + "X-A: a\r\rContent-Length: 0\r\n\r\n",
		"S32 nothing behind a 100":  "HTTP/1.1 100 Continue\r\n\r\n",
		"M19 space before a colon":  ok + "Content-Length : 0\r\n\r\n" + smuggled,
		"M18 space in a field name": ok + "X : a\r\nContent-Length: 2\r\n\r\nok",
		"S04 control character":     ok + "X: \x01\r\nContent-Length: 2\r\n\r\nok",
		"M21 folded Content-Length": ok + "Content-Length: 6\r\n 1\r\n\r\n" + smuggled,
		"M26 M55 both framings":     ok + "Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
	} {
		for _, kind := range kinds {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(name, "M2") || strings.HasPrefix(name, "S04 M02") || strings.HasPrefix(name, "S20") {
					nativeOnly(t)
				}
				g.target(say(kind, what, "&close")).wantStatus(t, http.StatusBadGateway)
				if a := g.target(say(kind, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown")).wantStatus(t, http.StatusOK); a.Body != "own" {
					t.Errorf("the next request got %q", a.Body)
				}
			})
		}
	}
}

// M36, M55: what follows a response is nobody's.
func TestSurplusIsNobodys(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	for _, kind := range kinds {
		for range 20 {
			surplus := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
			for _, what := range []string{surplus, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"} {
				if a := g.target(say(kind, what)).wantStatus(t, http.StatusOK); a.Body != "ok" {
					t.Fatalf("M36 %s: body %q", kind, a.Body)
				}
			}
		}
	}
}

// M25, M34, M39: bodies of unknown length, byte by byte as the client sees them.
func TestFramingOfResponses(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	const chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2;a=b\r\nok\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\n\r\n"
	for _, kind := range kinds {
		for _, tt := range []struct{ name, say, version, body string }{
			{"M23 M39 S07 chunks and trailers", chunks, "1.1", "2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"},
			{"M25 chunks for HTTP/1.0", chunks, "1.0", "ok"},
			{"M34 until the connection ends", "HTTP/1.1 200 OK\r\n\r\nok", "1.1", "2\r\nok\r\n0\r\n\r\n"},
			{"M34 until the connection ends, for HTTP/1.0", "HTTP/1.1 200 OK\r\n\r\nok", "1.0", "ok"},
		} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				t.Parallel()
				_, head, body := message(t, g.talk(lines("GET "+say(kind, tt.say, "&close")+" HTTP/"+tt.version, "Host: gateway.test", "TE: trailers", "Connection: TE, close")))
				codings := head.Values("Transfer-Encoding")
				if chunked := len(codings) == 1 && codings[0] == "chunked"; body != tt.body || chunked != (tt.version == "1.1") || len(head.Values("Content-Length")) > 0 {
					t.Errorf("body %q after %q, want %q", body, head.Fields, tt.body)
				}
			})
		}
	}
}

// M43: chunks that go wrong are not made to look complete.
func TestChunksThatGoWrong(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	for _, kind := range kinds {
		for _, rest := range []string{"", "zz\r\n", "5\r\nhe", "2\r\nokXX0\r\n\r\n", "0\r\nX-Sum: 1\r\n", "-1\r\n"} {
			all := g.talk(lines("GET "+say(kind, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"+rest, "&close")+" HTTP/1.1",
				"Host: gateway.test", "Connection: close"))
			if strings.HasPrefix(all, "HTTP/1.1 200 ") && strings.HasSuffix(all, "0\r\n\r\n") {
				t.Errorf("M43 %s, %q: the client got %q", kind, rest, all)
			}
		}
	}
}

// S28, M29: what has no body has none, and the connection goes on.
func TestResponsesWithoutBody(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	const last = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast"
	for _, kind := range kinds {
		for _, tt := range []struct{ name, method, say string }{
			{"S28 M29 HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"},
			{"S28 M29 HEAD, chunked", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
			{"M29 M25 204", "GET", "HTTP/1.1 204 No Content\r\n\r\n"},
			{"M29 S41 304", "GET", "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nContent-Length: 50\r\n\r\n"},
		} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				t.Parallel()
				all := g.talk(lines(tt.method+" "+say(kind, tt.say)+" HTTP/1.1", "Host: gateway.test") +
					lines("GET "+say(kind, last)+" HTTP/1.1", "Host: gateway.test", "Connection: close"))
				_, first, rest := message(t, all)
				status, _, body := message(t, rest)
				if status != "HTTP/1.1 200 OK" || body != "last" || tt.method == "GET" && len(first.Values("Transfer-Encoding")) > 0 {
					t.Errorf("got %q", all)
				}
			})
		}
	}
}

// M39, S12: the trailers of a request arrive as trailers, but not those that have a
// meaning only in front of the body, are sensitive, or end at this hop.
func TestTrailersOfRequests(t *testing.T) {
	t.Parallel()
	const secret = "secret.test"
	bad := []string{"Host: ", "Content-Length: 9 ", "Authorization: ", "X-Forwarded-For: ", "Cookie: ", "X-Hop: ", "X-Ignored: "}
	for _, kind := range kinds {
		raw := backendtest.StartRaw(t, backendtest.Step{Await: "0\r\nX-Sum: 1\r\n\r\n", Reply: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"})
		g := startGateway(t, bothYAML(raw.Addr)+"zuul.ignored-headers: X-Ignored\n")
		answer := g.wire(http.MethodPost, lines("POST /"+kind+"/x HTTP/1.1", "Host: gateway.test", "Transfer-Encoding: chunked",
			"Trailer: X-Sum, Authorization", "Connection: close, X-Hop")+
			"2\r\nhi\r\n0\r\nX-Sum: 1\r\n"+strings.Join(bad, secret+"\r\n")+secret+"\r\n\r\n")
		answer.wantStatus(t, http.StatusOK)
		if got := raw.Received(); len(got) != 1 || strings.Contains(got[0], secret) || !strings.Contains(got[0], "Trailer: X-Sum\r\n") {
			t.Errorf("M39 S12 %s: the upstream saw %q", kind, got)
		}
	}
}
