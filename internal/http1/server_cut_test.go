package http1

import (
	"net"
	"net/http"
	"testing"
)

// Close ends a request that has been received and is not being handled yet.
func TestCloseMeetsARequestThatBegins(t *testing.T) {
	ended := false
	s := &Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ended = r.Context().Err() != nil })}
	s.init()
	near, far := net.Pipe()
	defer far.Close()
	c := newServerConn(t.Context(), s, near, near.RemoteAddr())
	c.in.init(near, s.pool)
	c.in.makeRoom()
	c.in.end = copy(c.in.buf.bytes, "GET / HTTP/1.1\r\nHost: g\r\n\r\n")
	c.cutOff()
	c.serveOne()
	if !ended {
		t.Error("the context of the request goes on")
	}
}
