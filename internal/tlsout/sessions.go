package tlsout

import (
	"crypto/tls"
	"sync/atomic"
)

// maxSessions bounds the servers whose last session is remembered for resumption.
const maxSessions = 256

// sessions are the tickets of servers, by address: servers of one name need not share
// their secrets.
type sessions struct{ all tls.ClientSessionCache }

func newSessions() *sessions { return &sessions{tls.NewLRUClientSessionCache(maxSessions)} }

func (s *sessions) of(address string) tls.ClientSessionCache { return serverSessions{s.all, address} }

type serverSessions struct {
	all     tls.ClientSessionCache
	address string
}

func (s serverSessions) Get(name string) (*tls.ClientSessionState, bool) {
	return s.all.Get(s.address + "\x00" + name)
}

func (s serverSessions) Put(name string, session *tls.ClientSessionState) {
	s.all.Put(s.address+"\x00"+name, session)
}

// Tally counts handshakes. Any number of goroutines may use it; a nil one counts nothing.
type Tally struct {
	full, resumed atomic.Int64
	failed        [causes]atomic.Int64
}

// Handshakes is how many sessions have come about anew, and how many by resuming one.
func (t *Tally) Handshakes() (full, resumed int64) { return t.full.Load(), t.resumed.Load() }

// Failed is how many have not for a cause.
func (t *Tally) Failed(c Cause) int64 { return t.failed[c].Load() }

// Used reports that anything has been counted.
func (t *Tally) Used() bool {
	full, resumed := t.Handshakes()
	for c := range t.failed {
		full += t.failed[c].Load()
	}
	return full+resumed > 0
}

func (t *Tally) succeed(resumed bool) {
	switch {
	case t == nil:
	case resumed:
		t.resumed.Add(1)
	default:
		t.full.Add(1)
	}
}

func (t *Tally) fail(c Cause) {
	if t != nil {
		t.failed[c].Add(1)
	}
}
