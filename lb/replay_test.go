package lb_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/lb"
)

// source is a request body that notices how it is used.
type source struct {
	io.Reader
	read   int
	closed bool
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.read += n
	return n, err
}

func (s *source) Close() error {
	s.closed = true
	return nil
}

func withBody(tb testing.TB, body io.ReadCloser, length int64) *http.Request {
	tb.Helper()
	req := newRequest(tb.Context(), tb, http.MethodPut, "")
	req.Body, req.ContentLength = body, length
	return req
}

func replaying(tb testing.TB, rt http.RoundTripper) *lb.Command {
	tb.Helper()
	policy := lb.RetryPolicy{MaxNext: 2, AllOperations: true, StatusCodes: []int{503}, MaxReplayBytes: 100_000}
	return &lb.Command{Balancer: newBalancer(tb, "a", "b", "c"), Transport: rt, Retry: policy}
}

// C131: the next server gets the identical body and framing.
func TestReplay(t *testing.T) {
	for _, tc := range []struct {
		name   string
		size   int
		length int64 // as declared
		first  script
		sent   int // deliveries
		fails  bool
	}{
		{"C131 1 byte", 1, 1, failFirst(1, errClosed), 2, false},
		{"C131 4096 bytes", 4096, 4096, failFirst(1, errReset), 2, false},
		{"C131 70000 bytes", 70_000, 70_000, failFirst(2, errSilent), 3, false},
		{"C131 chunked", 70_000, -1, failFirst(1, errClosed), 2, false},
		{"C131 answered 503", 70_000, 70_000, unavailable("a"), 2, false},
		{"just small enough", 100_000, -1, failFirst(1, errClosed), 2, false},
		{"too large", 100_001, 100_001, failFirst(1, errClosed), 1, true},
		{"too large, chunked", 100_001, -1, failFirst(1, errClosed), 1, true},
		{"too large, but nothing was sent", 100_001, 100_001, failFirst(2, errRefused), 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := strings.Repeat("0123456789", tc.size/10+1)[:tc.size]
			src := &source{Reader: strings.NewReader(body)}
			u := &upstreams{answer: tc.first}
			if _, err := do(t, replaying(t, u), withBody(t, src, tc.length), retryable); (err != nil) != tc.fails {
				t.Errorf("error %v", err)
			}
			if len(u.bodies) != tc.sent {
				t.Errorf("%d deliveries, want %d", len(u.bodies), tc.sent)
			}
			for i, got := range u.bodies {
				if got != body {
					t.Errorf("delivery %d: %d bytes, want the %d of the request", i, len(got), len(body))
				}
			}
			for _, r := range u.sent {
				if r.ContentLength != tc.length {
					t.Errorf("length %d, want %d", r.ContentLength, tc.length)
				}
			}
			if src.closed || src.read != tc.size {
				t.Errorf("original closed %t, %d bytes read; want open and %d", src.closed, src.read, tc.size)
			}
		})
	}
}

// partial is a transport that reads a little of the body before it fails.
type partial struct {
	upstreams
	bytes int
}

func (p *partial) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(p.hosts) == 0 {
		p.hosts = append(p.hosts, r.URL.Host)
		if _, err := io.CopyN(io.Discard, r.Body, int64(p.bytes)); err != nil {
			return nil, err
		}
		return nil, errReset
	}
	return p.upstreams.RoundTrip(r)
}

func TestReplayAfterPartOfTheBody(t *testing.T) {
	body := strings.Repeat("x", 50_000) + "end"
	p := &partial{bytes: 1000}
	p.answer = always(200, nil)
	src := &source{Reader: strings.NewReader(body)}
	status, err := do(t, replaying(t, p), withBody(t, src, int64(len(body))), retryable)
	if status != 200 || len(p.bodies) != 1 || p.bodies[0] != body {
		t.Errorf("status %d, error %v, %d deliveries", status, err, len(p.bodies))
	}
}

// The body itself fails: nobody's fault, and there is nothing to send again.
func TestBodyFails(t *testing.T) {
	gone := errors.New("the client stopped sending")
	u := &upstreams{answer: always(200, nil)}
	src := &source{Reader: io.MultiReader(strings.NewReader("start"), errReader{gone})}
	c := replaying(t, u)
	_, err := do(t, c, withBody(t, src, 100), retryable)
	if !errors.Is(err, gone) || err.Kind != lb.General || len(u.hosts) != 1 {
		t.Errorf("error %v after %d attempts", err, len(u.hosts))
	}
	s := find(t, c.Balancer, "a").Stats()
	if s.SuccessiveFailures() != 0 || s.Total() != 1 {
		t.Errorf("%d failures, total %d; want 0 and 1", s.SuccessiveFailures(), s.Total())
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// lingering is a transport whose first attempt goes on reading the body on another
// goroutine after it has failed, as RoundTripper allows. It works in a bubble.
type lingering struct {
	upstreams
	late chan error
}

func (l *lingering) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(l.hosts) > 0 {
		return l.upstreams.RoundTrip(r)
	}
	l.hosts = append(l.hosts, r.URL.Host)
	go func() {
		buf := make([]byte, 10)
		for {
			if _, err := r.Body.Read(buf); err != nil {
				r.Body.Close()
				l.late <- err
				return
			}
		}
	}()
	synctest.Wait() // until it waits for the body
	return nil, errReset
}

// The read under way when an attempt fails is waited for, later ones are refused, and no byte is lost.
func TestTransportReadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		go func() {
			for range 10 {
				<-time.After(time.Second)
				_, _ = io.WriteString(to, "0123456789")
			}
			to.Close()
		}()
		l := &lingering{late: make(chan error, 1)}
		l.answer = always(200, nil)
		status, err := do(t, replaying(t, l), withBody(t, from, 100), retryable)
		if status != 200 || len(l.bodies) != 1 || l.bodies[0] != strings.Repeat("0123456789", 10) {
			t.Errorf("status %d, error %v, bodies %q", status, err, l.bodies)
		}
		if err := <-l.late; err == nil || errors.Is(err, io.EOF) {
			t.Errorf("the first attempt read on to %v", err)
		}
	})
}

// A client that stalls does not hold the request beyond its deadline.
func TestStalledBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		defer to.Close()
		l := &lingering{late: make(chan error, 1)}
		ctx, cancel := contextWithTimeout(t, time.Second)
		defer cancel()
		start := time.Now()
		_, err := do(t, replaying(t, l), withBody(t, from, 100).WithContext(ctx), retryable)
		if err == nil || time.Since(start) != time.Second || len(l.hosts) != 1 {
			t.Errorf("error %v after %v and %d attempts", err, time.Since(start), len(l.hosts))
		}
		to.Close()
		if err := <-l.late; err == nil {
			t.Error("the first attempt never ended")
		}
	})
}

// reopening is a transport that asks for the body again, as net/http does when it could
// not write to a connection.
type reopening struct {
	read int // bytes, before it asks
	got  string
	err  error
}

func (o *reopening) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.CopyN(io.Discard, r.Body, int64(o.read)); err != nil {
		return nil, err
	}
	again, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	if _, o.err = r.Body.Read(make([]byte, 1)); o.err == nil {
		return nil, errors.New("the first body is still readable")
	}
	body, err := io.ReadAll(again)
	o.got = string(body)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, err
}

func TestGetBody(t *testing.T) {
	body := strings.Repeat("x", 150_000) + "end"
	t.Run("from the start", func(t *testing.T) {
		o := &reopening{read: 100_000}
		status, err := do(t, replaying(t, o), newRequest(t.Context(), t, "POST", body), lb.Call{})
		if status != http.StatusOK || o.got != body {
			t.Errorf("status %d, error %v, %d bytes", status, err, len(o.got))
		}
	})
	t.Run("not once too much was read", func(t *testing.T) {
		o := &reopening{read: 100_001}
		_, err := do(t, replaying(t, o), newRequest(t.Context(), t, "POST", body), lb.Call{})
		if err == nil || !strings.Contains(err.Error(), "too large to be sent again") {
			t.Errorf("error %v", err)
		}
	})
}

// streaming answers before it has read the body, and reads it afterwards.
type streaming struct {
	failed bool
	got    chan []byte
}

func (s *streaming) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.failed {
		s.failed = true
		if _, err := io.CopyN(io.Discard, r.Body, 10); err != nil {
			return nil, err
		}
		return nil, errReset
	}
	go func() {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			body = []byte(err.Error())
		}
		r.Body.Close()
		s.got <- body
	}()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// After Do has returned an early response, the rest of the body still flows, what was kept included.
func TestEarlyResponse(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 5000)
	s := &streaming{got: make(chan []byte)}
	status, err := do(t, replaying(t, s), withBody(t, io.NopCloser(bytes.NewReader(body)), -1), retryable)
	if status != 200 || err != nil {
		t.Fatalf("status %d, error %v", status, err)
	}
	if got := <-s.got; !bytes.Equal(got, body) {
		t.Errorf("%d bytes arrived, want %d", len(got), len(body))
	}
}

// refusing answers 503 at once and reads the body behind its answer.
type refusing struct{ got chan string }

func (s *refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	go func() {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			body = []byte(err.Error())
		}
		r.Body.Close()
		s.got <- string(body)
	}()
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody}, nil
}

// The response that is returned keeps its upload, whatever its status.
func TestReturnedResponseKeepsItsUpload(t *testing.T) {
	for _, tc := range []struct {
		name string
		size int
	}{
		{"attempts used up", 50_000},
		{"body too large to be sent again", 500_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := strings.Repeat("x", tc.size)
			s := &refusing{got: make(chan string, 3)}
			status, err := do(t, replaying(t, s), newRequest(t.Context(), t, "PUT", body), retryable)
			if status != http.StatusServiceUnavailable {
				t.Fatalf("status %d, error %v", status, err)
			}
			for got := range s.got { // earlier attempts are cut short
				if got == body {
					break
				}
			}
		})
	}
}

// hasty answers 503 while it waits for more of the body, and reads on behind its answer.
type hasty struct{ got chan string }

func (h *hasty) RoundTrip(r *http.Request) (*http.Response, error) {
	go func() {
		var body strings.Builder
		if _, err := io.CopyBuffer(&body, struct{ io.Reader }{r.Body}, make([]byte, 64<<10)); err != nil {
			body.WriteString(err.Error())
		}
		r.Body.Close()
		h.got <- body.String()
	}()
	synctest.Wait()
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody}, nil
}

// That a body is too large to be sent again may turn out only while the read under way is waited for.
func TestUploadOutgrowsWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		defer from.Close()
		part := strings.Repeat("x", 60_000)
		go func() {
			for range 3 {
				_, _ = io.WriteString(to, part)
				<-time.After(time.Second)
			}
			to.Close()
		}()
		h := &hasty{got: make(chan string, 3)}
		status, err := do(t, replaying(t, h), withBody(t, from, 180_000), retryable)
		if got := <-h.got; status != http.StatusServiceUnavailable || got != strings.Repeat(part, 3) {
			t.Errorf("status %d, error %v, %d bytes arrived: %s", status, err, len(got), strings.TrimLeft(got, "x"))
		}
	})
}
