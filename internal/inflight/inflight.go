// Package inflight drains servers of net/http as internal/http1 does: it knows which
// requests still wait for a response, which ones have one under way, and can cut
// either.
package inflight

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/internal/grpc"
)

// Requests are those that are being handled behind Track. The zero value is ready.
// Its methods may be called from any goroutine.
type Requests struct {
	draining atomic.Bool

	mu  sync.Mutex
	all map[*request]struct{} // guarded by mu
}

// request is one that is being handled.
type request struct {
	cancel   context.CancelFunc
	call     bool        // of gRPC
	begun    atomic.Bool // its response is under way, or it is a stream by its nature
	hijacked atomic.Bool
	cut      atomic.Bool
}

// Track returns the handler with its requests known here. A request that is cut never
// ends like one that is complete; a gRPC call may still be given a status that says so.
func (q *Requests) Track(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		x := &request{cancel: cancel, call: grpc.IsCall(r.Method, r.Header)}
		x.begun.Store(x.call)
		q.add(x)
		defer q.remove(x)
		own := &writer{ResponseWriter: w, requests: q, request: x}
		h.ServeHTTP(own, r.WithContext(context.WithValue(ctx, CutKey{}, &x.cut)))
		if !x.begun.Load() {
			_ = own.begin() // the empty answer that net/http makes
		}
		if x.cut.Load() && !x.hijacked.Load() && !own.saysFailure() {
			panic(http.ErrAbortHandler) // net/http's way to cut a connection or to reset a stream
		}
	})
}

// Drain makes every response that begins from now on the last one of its connection.
func (q *Requests) Drain() { q.draining.Store(true) }

// InFlight counts the requests that wait for their response and those whose response
// has begun, without those that have hijacked their connection.
func (q *Requests) InFlight() (requests, responses int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for x := range q.all {
		switch {
		case x.hijacked.Load():
		case x.begun.Load():
			responses++
		default:
			requests++
		}
	}
	return requests, responses
}

// CutRequests ends the requests whose response has not begun, and returns their number.
func (q *Requests) CutRequests() int { return q.cutThose(false) }

// CutResponses ends those whose response has begun, and the contexts of those that have
// hijacked their connection. It returns the number of the former.
func (q *Requests) CutResponses() int { return q.cutThose(true) }

func (q *Requests) cutThose(begun bool) (cut int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for x := range q.all {
		if hijacked := x.hijacked.Load(); x.begun.Load() == begun {
			x.cut.Store(true)
			x.cancel()
			if !hijacked {
				cut++
			}
		}
	}
	return cut
}

func (q *Requests) add(x *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = map[*request]struct{}{}
	}
	q.all[x] = struct{}{}
}

func (q *Requests) remove(x *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.all, x)
}
