package http1

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// sentHead is the head of the response that a connection is busy with.
type sentHead struct {
	header   http.Header // but for what heads leave out
	endToEnd bool        // fields that end at this hop are left out too
	date     string      // where header has none
	found    string      // the type of the content, if it had to be found out
	message  message     // once the framing is decided
}

// SentField returns the values of a field, by its canonical name, in the head of the final
// response as it has left or, if nothing more is written, will leave. There are none before
// the head has begun.
func (w *response) SentField(name string) []string {
	if w.over.Load() || w.status == 0 {
		return nil
	}
	s := &w.conn().sent
	m := s.message
	if !w.decided {
		m = w.completed(w.ended())
	}
	switch own := m.field(name); {
	case own != "":
		return []string{own}
	case s.leavesOut(name, w.status):
		return nil
	case len(s.header[name]) > 0:
		return s.header[name]
	case name == "Date" && s.date != "":
		return []string{s.date}
	case name == "Content-Type" && s.found != "":
		return []string{s.found}
	}
	return nil
}

// leftOut tells of fields that a head does not take from a header.
func (s *sentHead) leavesOut(name string, status int) bool {
	switch name {
	case "Content-Length", "Transfer-Encoding", "Trailer":
		return true
	}
	return status != http.StatusSwitchingProtocols && name == "Connection" || strings.HasPrefix(name, http.TrailerPrefix) || s.endToEnd && headers.IsHopByHop(name)
}

// field is what a head says by itself under that name, empty for nothing.
func (m *message) field(name string) string {
	switch {
	case name == "Transfer-Encoding" && m.framing == chunkedBody:
		return "chunked"
	case name == "Trailer" && m.framing == chunkedBody:
		return announcement(m.trailer)
	case name == "Content-Length" && m.tellsLength():
		return strconv.FormatInt(m.length, 10)
	case name == "Connection" && m.close:
		return "close"
	case name == "Connection" && m.keepAlive:
		return "keep-alive"
	}
	return ""
}
