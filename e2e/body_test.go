package e2e_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

const multipartBody = "--AaB03x\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\nvalue\r\n" +
	"--AaB03x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b;c.txt\"\r\nContent-Type: application/octet-stream\r\n\r\n\x00\xff\r\n--x\r\n\r\n" +
	"--AaB03x\r\nContent-Disposition: form-data; name=\"field\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n--AaB03x--\r\n"

// foreignNames are file names in three encodings.
const foreignNames = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"中文 é.txt\"\r\n\r\n1\r\n" +
	"--B\r\nContent-Disposition: form-data; name=\"f\"; filename*=UTF-8''%e4%b8%ad.txt\r\n\r\n2\r\n" +
	"--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"caf\xe9.txt\"\r\n\r\n3\r\n--B--\r\n"

func TestRequestBodies(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startCustom(t, bothYAML(m.Addr))
	for _, kind := range kinds {
		for _, tt := range []struct {
			name, method, target, contentType, body string
		}{
			{"zuul 102 form", http.MethodPost, "/x", "application/x-www-form-urlencoded", "foo=(bar)"},
			{"C024, zuul 106 form with a query", http.MethodPost, "/login?next=1", "application/x-www-form-urlencoded", "user=a&password=b"},
			{"C080 form bytes", http.MethodPost, "/x?a=1", "application/x-www-form-urlencoded", "a=%E9&b=1&a=2&c=%2B+%20"},
			{"C080 form in Latin-1", http.MethodPost, "/x", "application/x-www-form-urlencoded; charset=ISO-8859-1", "x=caf\xe9"},
			{"C080 form with a charset", http.MethodPost, "/x", "application/x-www-form-urlencoded;charset=UTF-8", "x=caf%C3%A9"},
			{"C080 upper-case type", http.MethodPost, "/x", "APPLICATION/X-WWW-FORM-URLENCODED", "b=1&a=%7e"},
			{"zuul 105, 111 multipart", http.MethodPost, "/x", "multipart/form-data; boundary=AaB03x", multipartBody},
			{"C025 multipart with a query", http.MethodPost, "/up?a=1&b=2", "multipart/form-data; boundary=AaB03x", multipartBody},
			{"C062 file names in UTF-8 and Latin-1", http.MethodPost, "/up", "multipart/form-data; boundary=B", foreignNames},
			{"C070 PUT", http.MethodPut, "/x", "text/plain", "twenty-two characters!"},
			{"zuul 104 PATCH", http.MethodPatch, "/x", "text/plain", "patch"},
			{"zuul 103, C068 DELETE with a body", http.MethodDelete, "/x", "application/json", `{"a":1}`},
			{"C068 GET with a body", http.MethodGet, "/x", "application/json", `{"a":1}`},
			{"C068 OPTIONS with a body", http.MethodOptions, "/x", "application/json", `{"a":1}`},
			{"a method nobody knows", "BREW", "/x", "message/coffeepot", "start"},
			{"longer than any buffer", http.MethodPost, "/x", "application/octet-stream", strings.Repeat("\x00\r\n0123456789", 20_000)},
		} {
			head := []string{tt.method + " /" + kind + tt.target + " HTTP/1.1", "Host: gateway.test", "Content-Type: " + tt.contentType}
			check := func(t *testing.T, r reflection) {
				t.Helper()
				if r.Method != tt.method {
					t.Errorf("method %s", r.Method)
				}
				r.wantTarget(t, tt.target)
				r.wantField(t, "Content-Type", tt.contentType)
				if got := r.payload(t); got != tt.body {
					t.Errorf("%d bytes arrived, want %d: %.200q", len(got), len(tt.body), got)
				}
			}
			t.Run("zuul 112, 113 "+tt.name+", with its length, "+kind, func(t *testing.T) {
				t.Parallel()
				length := strconv.Itoa(len(tt.body))
				r := g.wire(tt.method, lines(append(slices.Clip(head), "Content-Length: "+length)...)+tt.body).reflected(t)
				check(t, r)
				r.wantField(t, "Content-Length", length)
				r.wantField(t, "Transfer-Encoding")
			})
			t.Run("zuul 113 "+tt.name+", in chunks, "+kind, func(t *testing.T) {
				t.Parallel()
				r := g.wire(tt.method, lines(append(slices.Clip(head), "Transfer-Encoding: chunked")...)+chunked(tt.body)).reflected(t)
				check(t, r)
				r.wantField(t, "Content-Length")
				r.wantField(t, "Transfer-Encoding", "chunked")
			})
		}
	}
}

// chunked frames a body in chunks of two sizes.
func chunked(body string) string {
	var b strings.Builder
	for size := 3; body != ""; size = 10_007 {
		size = min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", size, body[:size])
		body = body[size:]
	}
	return b.String() + "0\r\n\r\n"
}

func TestRequestsWithoutBody(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	for _, kind := range kinds {
		for _, method := range []string{http.MethodGet, http.MethodOptions, http.MethodDelete, http.MethodPost, http.MethodPut, http.MethodPatch} {
			for _, expect := range []string{"", "100-continue"} {
				t.Run(fmt.Sprintf("C067, C068 %s, expect %q, %s", method, expect, kind), func(t *testing.T) {
					t.Parallel()
					head := []string{method + " /" + kind + "/x HTTP/1.1", "Host: gateway.test"}
					if expect != "" {
						head = append(head, "Expect: "+expect)
					}
					r := g.wire(method, lines(head...)).reflected(t)
					r.wantField(t, "Transfer-Encoding")
					r.wantField(t, "Expect")
					if length := r.Values("Content-Length"); len(length) > 0 && (length[0] != "0" || method[0] != 'P') {
						t.Errorf("Content-Length %q was invented", length)
					}
					if r.Body != "" {
						t.Errorf("a body was invented: %q", r.Body)
					}
				})
			}
		}
	}
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	for _, kind := range kinds {
		c := dial(t, g.Proxy)
		in := bufio.NewReader(c)
		write(t, c, lines("POST /"+kind+"/x HTTP/1.1", "Host: gateway.test", "Content-Length: 5", "Expect: 100-continue"))
		if a := nextAnswer(t, in, http.MethodPost); a.Status != http.StatusContinue {
			t.Fatalf("%s: status %d before the body", kind, a.Status)
		}
		write(t, c, "hello")
		if got := nextAnswer(t, in, http.MethodPost).reflected(t).payload(t); got != "hello" {
			t.Errorf("%s: %q arrived", kind, got)
		}
	}
}

// C064: the upstream reads while the client still writes.
func TestUploadIsStreamed(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			buf := make([]byte, 64)
			n, err := r.Body.Read(buf)
			if n > 0 {
				got <- string(buf[:n])
			}
			if err != nil {
				io.WriteString(w, "done")
				return
			}
		}
	}))
	g := startGateway(t, bothYAML(b.Addr))
	for _, kind := range kinds {
		c := dial(t, g.Proxy)
		write(t, c, lines("POST /"+kind+"/x HTTP/1.1", "Host: gateway.test", "Transfer-Encoding: chunked"))
		for _, part := range []string{"one", "two", "three"} {
			write(t, c, fmt.Sprintf("%x\r\n%s\r\n", len(part), part))
			if arrived := receive(t, "a part arrives before the next is sent", got); arrived != part {
				t.Errorf("%s: %q arrived, want %q", kind, arrived, part)
			}
		}
		write(t, c, "0\r\n\r\n")
		nextAnswer(t, bufio.NewReader(c), http.MethodPost).wantStatus(t, http.StatusOK)
	}
}

func TestRequestTrailers(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Trailer)
	}))
	g := startGateway(t, bothYAML(b.Addr))
	for _, kind := range kinds {
		a := g.wire(http.MethodPost, lines("POST /"+kind+"/x HTTP/1.1", "Host: gateway.test", "TE: trailers", "Trailer: X-Sum", "Transfer-Encoding: chunked")+
			"2\r\nhi\r\n0\r\nX-Sum: 42\r\n\r\n")
		if a.Body != "map[X-Sum:[42]]" {
			t.Errorf("%s: trailers %s arrived", kind, a.Body)
		}
	}
}

// C235: the limit counts bytes, whatever the framing says.
func TestRequestBodyLimit(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, backendtest.Echo("b"))
	g := startGateway(t, bothYAML(b.Addr)+"gateway.limits.max-request-body: 1MB\n")
	const limit = 1 << 20
	for _, kind := range kinds {
		url := g.URL("/" + kind + "/x")
		for _, tt := range []struct {
			name   string
			body   io.Reader // a strings.Reader has a length, what hides it has none
			status int
		}{
			{"exactly", strings.NewReader(strings.Repeat("x", limit)), http.StatusOK},
			{"exactly, in chunks", onlyReader{strings.NewReader(strings.Repeat("x", limit))}, http.StatusOK},
			{"one more", strings.NewReader(strings.Repeat("x", limit+1)), http.StatusRequestEntityTooLarge},
			{"one more, in chunks", onlyReader{strings.NewReader(strings.Repeat("x", limit+1))}, http.StatusRequestEntityTooLarge},
		} {
			t.Run("C235 "+tt.name+", "+kind, func(t *testing.T) {
				t.Parallel()
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, tt.body)
				if err != nil {
					t.Fatal(err)
				}
				res, err := newClient(t).Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if res.StatusCode != tt.status {
					t.Errorf("status %d, want %d", res.StatusCode, tt.status)
				}
			})
		}
	}
}

// An answer that comes before the body has been read is the client's at once.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, backendtest.Answer(http.StatusUnauthorized, "who are you"))
	g := startGateway(t, bothYAML(b.Addr))
	for _, kind := range kinds {
		c := dial(t, g.Proxy)
		write(t, c, lines("POST /"+kind+"/x HTTP/1.1", "Host: gateway.test", "Content-Length: 1000000")+"some")
		began := time.Now()
		a := nextAnswer(t, bufio.NewReader(c), http.MethodPost).wantStatus(t, http.StatusUnauthorized)
		if a.Body != "who are you" || time.Since(began) > 10*time.Second {
			t.Errorf("%s: %q after %s", kind, a.Body, time.Since(began))
		}
	}
}

// The upstream answers while it still reads: every byte of the body is for it, none for
// the gateway to throw away.
func TestAnswerBeginsBeforeTheBodyEnds(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		duplex := http.NewResponseController(w)
		if err := errors.Join(duplex.EnableFullDuplex(), duplex.Flush()); err != nil {
			t.Error(err)
		}
		sum, err := summary(r.Body)
		fmt.Fprint(w, sum, err)
	}))
	g := startGateway(t, bothYAML(b.Addr))
	for _, kind := range kinds {
		for name, framing := range map[string]string{"with its length": "Content-Length: 400000", "in chunks": "Transfer-Encoding: chunked"} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				c := dial(t, g.Proxy)
				write(t, c, lines("POST /"+kind+"/x HTTP/1.1", "Host: gateway.test", framing))
				in := bufio.NewReader(c)
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				body := strings.Repeat("0123456789", 40_000)
				want, err := summary(strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if name == "in chunks" {
					body = chunked(body)
				}
				write(t, c, body)
				a, err := read(res)
				if err != nil || a.Body != want+"<nil>" {
					t.Errorf("%v, %v; want %s", a.Body, err, want)
				}
			})
		}
	}
}
