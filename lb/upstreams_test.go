package lb_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/lb"
)

// Errors as package net and net/http give them.
var (
	errRefused     = dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	errUnreachable = dialError(os.NewSyscallError("connect", syscall.EHOSTUNREACH))
	errDialTimeout = dialError(os.ErrDeadlineExceeded)
	errUnknownHost = dialError(&net.DNSError{Err: "no such host", Name: "users", IsNotFound: true})
	errReset       = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	errSilent      = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	errClosed      = io.EOF
	errHandshake   = lb.NotSent(errors.New("handshake failure"))
	errFullPool    = unasked{errors.New("no free connection")}
)

// unasked is how a transport says that it had no connection to send on.
type unasked struct{ error }

func (e unasked) Unwrap() error     { return e.error }
func (unasked) NothingSent() bool   { return true }
func (unasked) ServerUnasked() bool { return true }

func dialError(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// unsent tells which of them come before the request is sent.
func unsent(err error) bool {
	return errors.Is(err, errRefused) || errors.Is(err, errUnreachable) || errors.Is(err, errDialTimeout) ||
		errors.Is(err, errUnknownHost) || errors.Is(err, errHandshake) || errors.Is(err, errFullPool)
}

// reply is a response, or the error in its place.
type reply struct {
	status int
	body   string
	header http.Header
	err    error
}

type script func(host string, n int) reply

// upstreams is a transport that answers from a script and records what it was sent.
type upstreams struct {
	// answer gives the result of the n-th request, from 0, to a server.
	answer script

	mu        sync.Mutex
	hosts     []string // asked, in order
	count     map[string]int
	sent      []*http.Request
	bodies    []string   // of the requests that arrived
	responses []*closing // bodies given out
}

func (u *upstreams) RoundTrip(r *http.Request) (*http.Response, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if r.Body != nil {
		defer r.Body.Close()
	}
	if u.count == nil {
		u.count = make(map[string]int)
	}
	host := r.URL.Hostname()
	answer := u.answer(host, u.count[host])
	u.count[host]++
	u.hosts = append(u.hosts, host)
	u.sent = append(u.sent, r)
	if r.Body != nil && !unsent(answer.err) {
		body, readErr := io.ReadAll(r.Body)
		if readErr != nil {
			return nil, readErr
		}
		u.bodies = append(u.bodies, string(body))
	}
	if answer.err != nil {
		return nil, answer.err
	}
	return u.respond(answer), nil
}

func (u *upstreams) respond(answer reply) *http.Response {
	body := &closing{Reader: strings.NewReader(answer.body)}
	u.responses = append(u.responses, body)
	return &http.Response{
		StatusCode: answer.status, Header: answer.header,
		ContentLength: int64(len(answer.body)), Body: body,
	}
}

// closing is a response body that knows whether it was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// always answers every request alike: with err, or with status if that is nil.
func always(status int, err error) script {
	return func(string, int) reply { return reply{status: status, body: "ok", err: err} }
}

// failing makes the named hosts fail with err; the others answer 200.
func failing(err error, hosts ...string) script {
	return func(host string, n int) reply {
		if slices.Contains(hosts, host) {
			return reply{err: err}
		}
		return reply{status: http.StatusOK, body: "ok from " + host}
	}
}

// failFirst makes the first n requests, to whatever host, fail with err.
func failFirst(n int, err error) script {
	return func(host string, _ int) reply {
		if n--; n >= 0 {
			return reply{err: err}
		}
		return reply{status: http.StatusOK, body: "ok from " + host}
	}
}

// unavailable makes the named host answer 503; the others answer 200.
func unavailable(name string) script {
	return func(host string, _ int) reply {
		if host == name {
			return reply{status: http.StatusServiceUnavailable, body: "no"}
		}
		return reply{status: http.StatusOK, body: "ok"}
	}
}

// pass lets fake time go by, and what is due then happen. It is for the test's own goroutine.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func newRequest(ctx context.Context, tb testing.TB, method, body string) *http.Request {
	tb.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, "/path", r)
	if err != nil {
		tb.Fatal(err)
	}
	return req
}

func contextWithTimeout(tb testing.TB, d time.Duration) (context.Context, context.CancelFunc) {
	tb.Helper()
	return context.WithTimeout(tb.Context(), d)
}

// do sends a request and returns the status, or 0 and the error. It drains the response.
func do(tb testing.TB, c *lb.Command, req *http.Request, call lb.Call) (int, *lb.Error) {
	tb.Helper()
	resp, err := c.Do(req, call)
	if err != nil {
		var e *lb.Error
		if !errors.As(err, &e) {
			tb.Fatalf("error %v is a %T, want *lb.Error", err, err)
		}
		return 0, e
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		tb.Fatal(err)
	}
	return resp.StatusCode, nil
}

var retryable = lb.Call{Retryable: true}
