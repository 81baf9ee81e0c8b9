package accesslog

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Destination is where lines go, and how.
type Destination struct {
	// File is appended to, and made if it is not there; "" means standard output. A
	// pipe must have somebody who reads it when it is opened.
	File string
	// Buffer is how many bytes of lines wait at most; a line for which there is no room is
	// dropped and counted. As much again is held while it is being written. 0: there is no
	// log, and nothing is opened.
	Buffer int
	// Interval is how long a line waits at most.
	Interval time.Duration
}

// Writer takes lines to their destination, in the order in which they came. Its methods
// may be called from any goroutine.
type Writer struct {
	out io.Writer // instead of a file
	log *slog.Logger

	mu    sync.Mutex // guards the fields below; held to copy a line
	to    Destination
	wait  []byte
	block []byte // the lines behind wait
	old   int    // how much of wait is from before the last change of place
	lines int64

	wake   chan struct{}
	reopen atomic.Bool
	lost   atomic.Int64

	at       place     // the rest is Run's own
	current  io.Writer // at that place; nil: nowhere
	file     *os.File  // the same if it is one
	full     []byte    // being written; begins within a line if it is torn
	torn     bool
	owes     bool // the end of a line whose rest is lost
	troubled bool
	toldLost int64
}

// NewWriter makes a writer that does nothing until Run. out is standard output; log
// hears of what goes wrong.
func NewWriter(out io.Writer, log *slog.Logger) *Writer {
	return &Writer{out: out, log: log, wake: make(chan struct{}, 1)}
}

// Configure changes the destination. The lines that wait go to the old one, if it takes
// them.
func (w *Writer) Configure(d Destination) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to.place() != d.place() {
		w.gather()
		w.old = len(w.wait)
	}
	if w.to != d {
		w.to = d
		w.nudge()
	}
}

// Reopen closes the file and opens it anew, for those who have moved it away.
func (w *Writer) Reopen() {
	w.reopen.Store(true)
	w.nudge()
}

// Lines is how many lines have been accepted.
func (w *Writer) Lines() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines
}

// Lost is how many lines there was no room for, or that could not be written.
func (w *Writer) Lost() int64 { return w.lost.Load() }

// Write hands over a line with its end, of which it keeps a copy. It never waits.
func (w *Writer) Write(line []byte) {
	w.mu.Lock()
	waiting := len(w.wait) + len(w.block) + len(line)
	if waiting > w.to.Buffer {
		if w.to.Buffer > 0 { // else it was switched off during the request
			w.lost.Add(1)
		}
		w.mu.Unlock()
		return
	}
	if len(w.block)+len(line) > blockSize {
		w.gather()
	}
	w.block = append(w.block, line...)
	w.lines++
	urgent := waiting > w.to.Buffer/2
	w.mu.Unlock()
	if urgent {
		w.nudge()
	}
}

// blockSize is how many bytes are brought together before they go where the others wait. A
// block stays in the processor's cache. To copy each line to where so many wait would be to
// wait for memory each time.
const blockSize = 4 << 10

// gather is called with mu held.
func (w *Writer) gather() {
	w.wait, w.block = append(w.wait, w.block...), w.block[:0]
}

func (w *Writer) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Open opens the file, so that Run's caller learns early that it cannot be.
func (w *Writer) Open() error {
	_, _, err := w.target()
	return err
}

// Run writes until ctx has ended and the last lines have been written, for which they
// have a second. Call it once.
func (w *Writer) Run(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.loop(ctx)
	}()
	<-ctx.Done()
	select {
	case <-ended:
	case <-time.After(patience): // nobody reads the pipe
	}
}

// patience is how long the end waits for somebody to take the last lines.
const patience = time.Second

func (w *Writer) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer w.leave()
	for {
		select {
		case <-ctx.Done():
			if w.flush(); len(w.full) == 0 {
				w.flush() // what has waited behind that
			}
			w.lose()
			return
		case <-w.wake:
		case <-timer.C:
		}
		timer.Reset(w.flush())
	}
}

// flush writes what waits and returns when to do so again.
func (w *Writer) flush() time.Duration {
	out, interval, err := w.target()
	some := w.take()
	if some {
		err = cmp.Or(w.put(out), err)
	}
	w.tell(err, some)
	if len(w.full) > 0 {
		return time.Millisecond
	}
	return interval
}

// take gets the lines that wait, once those from before are written, and tells whether
// there are any.
func (w *Writer) take() bool {
	if len(w.full) == 0 {
		w.mu.Lock()
		w.gather()
		w.full, w.wait, w.old = w.wait, w.full, 0
		w.mu.Unlock()
	}
	return len(w.full) > 0
}

// takeOld gets those lines that belong to the place that is left.
func (w *Writer) takeOld() bool {
	if len(w.full) == 0 {
		w.mu.Lock()
		w.full = append(w.full, w.wait[:w.old]...)
		w.wait = append(w.wait[:0], w.wait[w.old:]...)
		w.old = 0
		w.mu.Unlock()
	}
	return len(w.full) > 0
}
