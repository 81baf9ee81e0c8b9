package registry

import (
	"net/http"
	"sync/atomic"
	"time"
)

// unsent counts the bytes of the answers that readers have not taken yet, each answer
// once however many read it. Every version of a list that a slow reader asked for stays
// in memory until that reader has it.
type unsent struct {
	most  int64
	bytes atomic.Int64
}

// over reports whether no further answer should be made for readers.
func (u *unsent) over() bool { return u.bytes.Load() > u.most }

func (u *unsent) begin(a *answer) {
	if a.readers.Add(1) == 1 {
		u.bytes.Add(int64(len(a.plain)))
	}
}

func (u *unsent) end(a *answer) {
	if a.readers.Add(-1) == 0 {
		u.bytes.Add(-int64(len(a.plain)))
	}
}

// A large answer is given up when its reader has not taken it by then.
const (
	largeAnswer    = 64 << 10
	answerPatience = time.Minute
)

// bound limits the time in which the whole body has to be taken.
func bound(w http.ResponseWriter, body []byte) {
	if len(body) > largeAnswer {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerPatience)) // not there on a recorder
	}
}
