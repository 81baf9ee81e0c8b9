package e2e_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// mirror is an upstream that answers each request with the very bytes of it: request
// line, fields, and the body with its chunk framing.
type mirror struct {
	Addr     string
	requests atomic.Int64
}

// startMirror runs a mirror until the test ends.
func startMirror(tb testing.TB) *mirror {
	tb.Helper()
	m := &mirror{}
	m.Addr = serveConns(tb, m.serve)
	return m
}

// serveConns calls serve for every connection to the address that it returns, and closes
// the connection behind it. At the end of the test it waits for all.
func serveConns(tb testing.TB, serve func(net.Conn)) string {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn // guarded by mu
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			running.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	tb.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return l.Addr().String()
}

func (m *mirror) serve(c net.Conn) {
	var seen bytes.Buffer
	in := bufio.NewReader(io.TeeReader(c, &seen)) // the gateway does not send ahead
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		m.requests.Add(1)
		if _, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Mirror: yes\r\n\r\n%s", seen.Len(), seen.Bytes()); err != nil {
			return
		}
		seen.Reset()
	}
}

// reflection is a request as it arrived at a mirror.
type reflection struct {
	Method, Target string
	Fields         []string // "Name: value", in order of arrival
	Body           string   // with its framing
}

// reflected takes the answer of a mirror apart.
func (a *answer) reflected(tb testing.TB) reflection {
	tb.Helper()
	if a.Status != http.StatusOK || a.Header.Get("X-Mirror") == "" {
		tb.Fatalf("no mirror has answered: %d %.300s", a.Status, a.Body)
	}
	head, body, _ := strings.Cut(a.Body, "\r\n\r\n")
	all := strings.Split(head, "\r\n")
	words := strings.Split(all[0], " ")
	if len(words) != 3 || words[2] != "HTTP/1.1" {
		tb.Fatalf("request line %q", all[0])
	}
	return reflection{words[0], words[1], all[1:], body}
}

// Values are those of a field, in order; the name's case does not matter.
func (r reflection) Values(name string) []string {
	var values []string
	for _, f := range r.Fields {
		if n, v, _ := strings.Cut(f, ":"); strings.EqualFold(n, name) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}

// wantField fails the test unless the field arrived with just these values.
func (r reflection) wantField(tb testing.TB, name string, want ...string) {
	tb.Helper()
	if got := r.Values(name); !slices.Equal(got, want) {
		tb.Errorf("%s arrived as %q, want %q", name, got, want)
	}
}

// wantTarget fails the test unless the request line had this target.
func (r reflection) wantTarget(tb testing.TB, want string) {
	tb.Helper()
	if r.Target != want {
		tb.Errorf("the upstream saw %q, want %q", r.Target, want)
	}
}

// payload is the body without its framing; it fails the test if that is malformed.
func (r reflection) payload(tb testing.TB) string {
	tb.Helper()
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(
		lines(append([]string{"POST / HTTP/1.1"}, r.Fields...)...) + r.Body)))
	if err != nil {
		tb.Fatal(err)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(body)
}
