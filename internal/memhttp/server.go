package memhttp

import (
	"log/slog"
	"net/http"
	"testing"
)

// Server is an http.Server on a Network.
type Server struct {
	// Addr is the server's host and port on its network.
	Addr string

	server *http.Server
	served chan struct{}
}

// Serve starts answering addr with h until Close or the end of the test. Under
// testing/synctest call it inside the bubble.
func (n *Network) Serve(tb testing.TB, addr string, h http.Handler) *Server {
	tb.Helper()
	l, err := n.Listen(addr)
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{
		Addr:   addr,
		server: &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)},
		served: make(chan struct{}),
	}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(l) // always ErrServerClosed
	}()
	tb.Cleanup(s.Close)
	return s
}

// Close refuses new connections and cuts the open ones, as a crash does.
func (s *Server) Close() {
	_ = s.server.Close()
	<-s.served
}

// NewClient serves h on a network of its own and returns a client for it with
// the URL to ask.
func NewClient(tb testing.TB, h http.Handler) (client *http.Client, url string) {
	tb.Helper()
	n := NewNetwork()
	s := n.Serve(tb, "mem.test:80", h)
	return &http.Client{Transport: n.Transport(tb)}, "http://" + s.Addr
}
