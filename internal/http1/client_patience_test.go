package http1

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// reluctant is a connection whose peer takes bytes of which the writer learns only when it
// writes again, as from a socket that has less room than wakes a writer.
type reluctant struct {
	net.Conn
	room  func() int // in all
	taken int
	until time.Time
}

func (c *reluctant) SetWriteDeadline(t time.Time) error { c.until = t; return nil }

func (c *reluctant) Write(p []byte) (int, error) {
	n := min(c.room()-c.taken, len(p))
	if c.taken += n; n == len(p) {
		return n, nil
	}
	<-time.After(time.Until(c.until))
	return n, os.ErrDeadlineExceeded
}

func TestPatienceWithAnUpload(t *testing.T) {
	const patience = time.Minute
	for name, tt := range map[string]struct {
		room func(time.Duration, int) int // since the start, at the n-th look
		err  error
		took time.Duration
	}{
		"takes nothing more":  {func(_ time.Duration, looks int) int { return 500 + 100*min(looks, 2) }, os.ErrDeadlineExceeded, patience},
		"takes a little":      {func(since time.Duration, _ int) int { return 997 + int(since/(50*time.Second)) }, nil, 150 * time.Second},
		"takes nothing ever":  {func(time.Duration, int) int { return 0 }, os.ErrDeadlineExceeded, patience},
		"takes all at once":   {func(time.Duration, int) int { return 1000 }, nil, 0},
		"stops after a while": {func(since time.Duration, _ int) int { return int(min(since, time.Minute) / time.Second) }, os.ErrDeadlineExceeded, 2 * patience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, looks := time.Now(), 0
				conn := &reluctant{room: func() int { looks++; return tt.room(time.Since(start), looks) }}
				u := &upload{ctx: t.Context(), conn: &clientConn{Conn: conn}, patience: patience}
				err := u.writeAll(make([]byte, 1000))
				if took := time.Since(start); !errors.Is(err, tt.err) || took < tt.took || took > tt.took+2*writeLook {
					t.Errorf("%v after %s, want %v after %s", err, took, tt.err, tt.took)
				}
			})
		})
	}
}
