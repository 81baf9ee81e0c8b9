package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// loadWorkers is how many requests are under way at a time.
const loadWorkers = 8

// load is traffic that goes on until Stop: workers that send one request after the other
// on kept-alive connections, each with an id that has to come back.
type load struct {
	tb      testing.TB
	client  *http.Client
	url     string
	methods []string
	ask     func(method, id string) error // sends one request and judges the answer
	stop    atomic.Bool
	done    atomic.Int64
	workers sync.WaitGroup

	mu       sync.Mutex
	failures []string // guarded by mu
}

// startLoad sends requests with the methods in turn; POST, PUT and PATCH have a body.
func startLoad(tb testing.TB, url string, methods ...string) *load {
	tb.Helper()
	return startLoadBy(tb, newClient(tb), url, methods...)
}

func startLoadBy(tb testing.TB, client *http.Client, url string, methods ...string) *load {
	tb.Helper()
	l := &load{tb: tb, client: client, url: url, methods: methods}
	l.ask = l.request
	l.start()
	return l
}

// startLoadOf asks in another way.
func startLoadOf(tb testing.TB, ask func() error) *load {
	tb.Helper()
	l := &load{tb: tb, methods: []string{""}, ask: func(string, string) error { return ask() }}
	l.start()
	return l
}

func (l *load) start() {
	for w := range loadWorkers {
		l.workers.Go(func() { l.work(w) })
	}
	l.tb.Cleanup(func() { l.Stop() })
}

func (l *load) work(worker int) {
	for n := 0; !l.stop.Load(); n++ {
		method := l.methods[(worker+n)%len(l.methods)]
		id := fmt.Sprintf("%s-%d-%d", method, worker, n)
		if err := l.ask(method, id); err != nil {
			l.fail(id, err)
		}
		l.done.Add(1)
	}
}

// request is what identify answers.
func (l *load) request(method, id string) error {
	var body io.Reader
	if slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, method) {
		body = strings.NewReader(strings.Repeat(id+" ", 100))
	}
	req, err := http.NewRequestWithContext(context.Background(), method, l.url, body)
	if err != nil {
		return err
	}
	req.Header.Set("X-Id", id)
	res, err := l.client.Do(req)
	if err != nil {
		return err
	}
	a, err := read(res)
	if err != nil {
		return err
	}
	want := id
	if body != nil {
		want += " " + strings.Repeat(id+" ", 100)
	}
	if a.Status != http.StatusOK || a.Body != want {
		return fmt.Errorf("status %d, body %.300q", a.Status, a.Body)
	}
	return nil
}

// identify answers with the id of a request, and with its body behind that.
func identify() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, r.Header.Get("X-Id"))
		if len(body) > 0 {
			io.WriteString(w, " "+string(body))
		}
	})
}

func (l *load) fail(id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, fmt.Sprintf("%s: %v", id, err))
}

// Progress waits until so many further requests have been answered.
func (l *load) Progress(n int64) {
	l.tb.Helper()
	goal := l.done.Load() + n
	eventually(l.tb, "the load goes on", func() bool { return l.done.Load() >= goal })
}

// Reaches waits until a backend has got so many further requests.
func (l *load) Reaches(b *backendtest.Backend, n int64) {
	l.tb.Helper()
	goal := b.Requests() + n
	eventually(l.tb, "requests reach "+b.Addr, func() bool { return b.Requests() >= goal })
}

// Stop ends the load and fails the test if any request has failed. It returns the number
// of requests.
func (l *load) Stop() int64 {
	l.tb.Helper()
	l.stop.Store(true)
	l.workers.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.failures) > 0 {
		l.tb.Errorf("%d of %d requests failed, the first: %s", len(l.failures), l.done.Load(), strings.Join(l.failures[:min(5, len(l.failures))], "\n"))
		l.failures = nil
	}
	return l.done.Load()
}
