package backendtest

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// lingering is how long a dying backend waits for its connections to be used
// once more, so that a request already on the wire is answered and not lost. It
// is counted in ticks: a process that has been stopped meanwhile reads first what
// has come.
const lingering = 100 * time.Millisecond

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
	open     atomic.Int64 // connections
}

func startLife(l net.Listener, h http.Handler) *life {
	f := &life{listener: l, served: make(chan struct{})}
	f.server = &http.Server{
		Handler:   f.closing(h),
		ConnState: f.count,
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

func (f *life) count(_ net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		f.open.Add(1)
	case http.StateHijacked, http.StateClosed:
		f.open.Add(-1)
	case http.StateActive, http.StateIdle:
	}
}

func (f *life) drain() {
	f.listener.Close() // first: a client told to close would come back with a new connection
	<-f.served
	f.dying.Store(true)
	f.await(lingering)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_ = f.server.Shutdown(gone) // closes what idles and does not wait for the rest
}

// await returns when no connection is open, or after as many ticks as limit has.
func (f *life) await(limit time.Duration) {
	const pace = time.Millisecond
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for left := limit; left > 0 && f.open.Load() > 0; left -= pace {
		<-tick.C
	}
}

func (f *life) cut() {
	_ = f.server.Close()
	<-f.served
}
