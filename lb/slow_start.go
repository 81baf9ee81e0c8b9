package lb

import (
	"math/rand/v2"
	"time"
)

// leastShare is what a server gets at the beginning of its slow start.
const leastShare = 0.1

// admit lets a server that has just come take its place only so often: the probability
// grows with the time since then, from leastShare to 1. Otherwise another pick decides,
// or the rule among the servers that have been there for longer.
func (v *view) admit(key any, s *Server) *Server {
	if s == nil {
		return s
	}
	now := time.Now().UnixNano()
	if s.admitted(now, v.slowStart) {
		return s
	}
	if other := v.picker.Pick(key); other != nil && other != s && other.admitted(now, v.slowStart) {
		return other
	}
	if other := v.settled.Pick(key); other != nil {
		return other
	}
	return s
}

func (s *Server) admitted(now int64, length time.Duration) bool {
	since := s.state.since.Load()
	if since == 0 {
		return true
	}
	share := max(float64(now-since)/float64(length), leastShare)
	return share >= 1 || rand.Float64() < share
}

// warming reports that the slow start of s is going on, and when it ends.
func (s *Server) warming(now int64, length time.Duration) (until int64, is bool) {
	since := s.state.since.Load()
	if length <= 0 || since == 0 {
		return 0, false
	}
	until = since + int64(length)
	return until, until > now
}
