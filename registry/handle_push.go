package registry

import (
	"net/http"
	"time"
)

// How often a quiet stream shows that it lives, and how long a write may take.
const (
	pushKeepAlive    = 15 * time.Second
	pushWriteTimeout = 10 * time.Second
)

// getPush streams changes as server-sent events: "sync" with the hash of the list as
// it is, then a "delta" per change. A client whose own list has another hash at
// "sync" reads the whole list with "Cache-Control: no-cache" and goes on from there.
func (a *api) getPush(w http.ResponseWriter, req *http.Request) {
	if a.gated.Load() {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s, first := a.subscribe()
	if s == nil {
		fail(w, http.StatusServiceUnavailable, "too many subscribers")
		return
	}
	defer a.push.unsubscribe(s)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	if req.Method == http.MethodHead {
		return
	}
	out := stream{w, http.NewResponseController(w)}
	_ = out.control.SetReadDeadline(time.Time{}) // that for the request ends a stream too
	keepAlive := time.NewTicker(pushKeepAlive)
	defer keepAlive.Stop()
	for event := first; out.send(event); {
		var open bool
		select {
		case <-req.Context().Done():
			return
		case <-keepAlive.C:
			event = []byte(": \n\n")
		case event, open = <-s.events:
			if !open {
				return
			}
		}
	}
}

// stream writes events that go out at once.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
}

// send returns false when the client does not read.
func (s stream) send(event []byte) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(pushWriteTimeout)) // where there are none, the backlog bounds it
	if _, err := s.Write(event); err != nil {
		return false
	}
	return s.control.Flush() == nil
}
