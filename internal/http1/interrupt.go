package http1

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// downstream is what a server's request offers to the client side, which finds
// it by downstreamKey in the request's context.
type downstream struct {
	interrupter Interrupter
	interim     interimSender  // nil if interim responses are not wanted
	cleaner     InterimCleaner // nil: none
	crowd       *crowd         // nil: none
}

// interimSender sends an interim response to the client, as far as the client
// takes it. It is called before the final response, on the handler's goroutine,
// and keeps nothing of header.
type interimSender interface {
	sendInterim(status int, header http.Header)
}

// InterimCleaner deletes from the header of an upstream's interim response what is not for
// the client. It is called before RoundTrip returns, perhaps in another goroutine.
type InterimCleaner interface {
	CleanInterim(header http.Header)
}

// CleanInterim has the interim responses to the request that ctx belongs to cleaned by c,
// beyond the fields of one hop, which are never there. Call it before RoundTrip.
func CleanInterim(ctx context.Context, c InterimCleaner) {
	if d := downstreamOf(ctx); d != nil {
		d.cleaner = c
	}
}

// relayInterim sends an upstream's interim response to the client, if there is one that
// wants it.
func (d *downstream) relayInterim(status int, header http.Header) {
	if d == nil || d.interim == nil {
		return
	}
	headers.Strip(header)
	if d.cleaner != nil {
		d.cleaner.CleanInterim(header)
	}
	d.interim.sendInterim(status, header)
}

type contextKey uint8

const downstreamKey contextKey = 0

func downstreamOf(ctx context.Context) *downstream {
	d, _ := ctx.Value(downstreamKey).(*downstream)
	return d
}

// deadliner is a connection whose blocked reads and writes end when a deadline
// passes.
type deadliner interface {
	SetDeadline(t time.Time) error
}

// Interrupter ends blocked work on connections when the request that they work
// for has ended. It stands in for a goroutine that waits for a context's Done:
// whoever is about to block registers the connection, and unregisters it
// afterwards. The zero value is ready; any goroutine may use it.
type Interrupter struct {
	mu      sync.Mutex
	fired   bool
	working []deadliner
	own     [2]deadliner // the first places of working
}

// register puts c under the interrupter's control and returns true, or returns
// false because the request has ended already.
func (i *Interrupter) register(c deadliner) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.fired {
		return false
	}
	if i.working == nil {
		i.working = i.own[:0]
	}
	i.working = append(i.working, c)
	return true
}

// unregister takes c out again. It returns false if the request has ended in
// the meantime: the deadlines of c are in the past then. After unregister the
// interrupter does not touch c any more.
func (i *Interrupter) unregister(c deadliner) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := slices.Index(i.working, c); n >= 0 {
		i.working = slices.Delete(i.working, n, n+1)
	}
	return !i.fired
}

// interrupt ends what is registered now and refuses what comes later.
func (i *Interrupter) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fired = true
	for _, c := range i.working {
		_ = c.SetDeadline(longAgo()) // fails on a closed connection, which blocks nobody
	}
}

// longAgo is a deadline that has passed, under fake time too.
func longAgo() time.Time { return time.Unix(1, 0) }

// SendInterim hands an upstream's interim response to the client whose request ctx belongs
// to, if there is one that can take it. It keeps nothing of header, which it may change, and
// must be called before RoundTrip returns.
func SendInterim(ctx context.Context, status int, header http.Header) {
	downstreamOf(ctx).relayInterim(status, header)
}
