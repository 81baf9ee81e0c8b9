package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// place is that of a destination.
type place struct {
	on   bool
	file string // "": standard output
}

func (d Destination) place() place { return place{d.Buffer > 0, d.File} }

// target is where to write now, nil for nowhere. As long as a file cannot be opened that
// is where it was before.
func (w *Writer) target() (out io.Writer, interval time.Duration, err error) {
	w.mu.Lock()
	to := w.to
	w.mu.Unlock()
	if anew := w.reopen.Swap(false); w.at != to.place() || anew && w.file != nil {
		if err = w.move(to.place()); err != nil {
			w.reopen.Store(true) // next time
		}
	}
	return w.current, max(to.Interval, time.Millisecond), err
}

func (w *Writer) move(to place) error {
	if !to.on || to.file == "" {
		w.leave()
		if to.on {
			w.current = w.out
		}
		w.at = to
		return nil
	}
	file, err := open(to.file)
	if err != nil {
		return err
	}
	w.leave()
	w.at, w.current, w.file = to, file, file
	return nil
}

func open(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o640)
	if errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("open %s: nobody reads the pipe, or it is a socket", name)
	}
	return file, err
}

// leave writes what waits and closes the file.
func (w *Writer) leave() {
	if w.current == nil {
		return
	}
	if w.takeOld() {
		_ = w.put(w.current) // what it does not take is lost, or waits for the next place
	}
	if w.file != nil {
		_ = w.file.Close() // every line has been written, or is kept, or counted as lost
	}
	if w.torn { // the rest of the line would be one of its own there
		w.full = append(w.full[:0], w.full[bytes.IndexByte(w.full, '\n')+1:]...)
		w.lost.Add(1)
	}
	w.current, w.file, w.torn, w.owes = nil, nil, false, false
}
