package backendtest

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// lingering is how long a dying backend waits for its connections to be used
// once more, so that a request already on the wire is answered and not lost. It
// is counted in ticks: a process that has been stopped meanwhile reads first what
// has come.
const lingering = 100 * time.Millisecond

// hearing is how long it then has to begin with requests that have arrived.
const hearing = 5 * time.Second

// farewell is how long the end of a test waits for connections: net/http keeps one for
// half a second if it has not read the request to its end, and who counts goroutines then
// would find it.
const farewell = 2 * time.Second

// life is the time between a start and a Kill or Crash.
type life struct {
	server   *http.Server
	listener net.Listener
	served   chan struct{}
	dying    atomic.Bool

	mu   sync.Mutex
	open map[net.Conn]http.ConnState // guarded by mu
}

func startLife(l net.Listener, h http.Handler) *life {
	f := &life{listener: l, served: make(chan struct{}), open: map[net.Conn]http.ConnState{}}
	f.server = &http.Server{
		Handler:   f.closing(h),
		ConnState: f.note,
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(f.served)
		_ = f.server.Serve(l) // the listener was closed
	}()
	return f
}

// closing announces the end of the connection with each answer of a dying server.
func (f *life) closing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.dying.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

func (f *life) note(c net.Conn, s http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s == http.StateHijacked || s == http.StateClosed {
		delete(f.open, c)
	} else {
		f.open[c] = s
	}
}

func (f *life) allClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open) == 0
}

// allHeard reports that no request waits for the server to begin with it.
func (f *life) allHeard() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c, state := range f.open {
		if state != http.StateActive && c.(*conn).asked() {
			return false
		}
	}
	return true
}

func (f *life) drain() {
	f.listener.Close() // first: a client told to close would come back with a new connection
	<-f.served
	f.dying.Store(true)
	await(lingering, f.allClosed)
	await(hearing, f.allHeard)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_ = f.server.Shutdown(gone) // closes what idles and does not wait for the rest
}

// await returns when ok says yes, or after as many ticks as limit has.
func await(limit time.Duration, ok func() bool) {
	const pace = time.Millisecond
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for left := limit; left > 0 && !ok(); left -= pace {
		<-tick.C
	}
}

func (f *life) cut() {
	_ = f.server.Close()
	<-f.served
}
