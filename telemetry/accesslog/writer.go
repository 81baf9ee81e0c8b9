package accesslog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Destination is where lines go, and how.
type Destination struct {
	// File is appended to, and made if it is not there; "" means standard output.
	File string
	// Buffer is how many bytes of lines wait at most; a line for which there is no room is
	// dropped and counted. As much again is held while it is being written.
	Buffer int
	// Interval is how long a line waits at most.
	Interval time.Duration
}

// Writer takes lines to their destination, in the order in which they came. Its methods
// may be called from any goroutine.
type Writer struct {
	out io.Writer // instead of a file
	log *slog.Logger

	mu   sync.Mutex // guards the fields below; held to copy a line
	to   Destination
	wait []byte

	wake   chan struct{}
	reopen atomic.Bool
	lines  atomic.Int64
	lost   atomic.Int64

	file     *os.File // like the rest, Run's own
	name     string   // of file
	full     []byte
	troubled bool
}

// NewWriter makes a writer that does nothing until Run. out is standard output; log
// hears of what goes wrong.
func NewWriter(out io.Writer, log *slog.Logger) *Writer {
	return &Writer{out: out, log: log, wake: make(chan struct{}, 1)}
}

// Configure changes the destination. The lines that wait go to the new one.
func (w *Writer) Configure(d Destination) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
func (w *Writer) Lines() int64 { return w.lines.Load() }

// Lost is how many lines there was no room for, or that could not be written.
func (w *Writer) Lost() int64 { return w.lost.Load() }

// Write hands over a line with its end, of which it keeps a copy. It never waits.
func (w *Writer) Write(line []byte) {
	w.mu.Lock()
	if len(w.wait)+len(line) > w.to.Buffer {
		w.mu.Unlock()
		w.lost.Add(1)
		return
	}
	w.wait = append(w.wait, line...)
	urgent := len(w.wait) > w.to.Buffer/2
	w.mu.Unlock()
	w.lines.Add(1)
	if urgent {
		w.nudge()
	}
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
	defer w.close()
	for {
		select {
		case <-ctx.Done():
			w.flush()
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
	w.mu.Lock()
	w.full, w.wait = w.wait, w.full[:0]
	w.mu.Unlock()
	if len(w.full) > 0 && out != nil {
		written, failure := out.Write(w.full)
		if err = failure; err != nil {
			w.lost.Add(int64(bytes.Count(w.full[written:], []byte{'\n'})))
		}
	}
	w.tell(err)
	return interval
}

// target is where to write now. A file that cannot be opened leaves the one before,
// and standard output if there was none.
func (w *Writer) target() (out io.Writer, interval time.Duration, err error) {
	w.mu.Lock()
	to := w.to
	w.mu.Unlock()
	if anew := w.reopen.Swap(false); w.name != to.File || anew && to.File != "" {
		if err = w.open(to.File); err != nil {
			err = fmt.Errorf("accesslog: %w", err)
			w.reopen.Store(true) // next time
		}
	}
	if w.file != nil {
		return w.file, max(to.Interval, time.Millisecond), err
	}
	return w.out, max(to.Interval, time.Millisecond), err
}

func (w *Writer) open(name string) error {
	if name == "" {
		w.close()
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	w.close()
	w.file, w.name = file, name
	return nil
}

func (w *Writer) close() {
	if w.file != nil {
		_ = w.file.Close() // every line has been written, or counted as lost
	}
	w.file, w.name = nil, ""
}

// tell logs what has changed.
func (w *Writer) tell(err error) {
	switch {
	case err != nil && !w.troubled:
		w.log.Error("the access log cannot be written", "error", err, "lost", w.Lost())
	case err == nil && w.troubled:
		w.log.Info("the access log is written again", "lost", w.Lost())
	}
	w.troubled = err != nil
}
