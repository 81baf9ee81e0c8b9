package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// Check tells whether a writer could open the destination, and leaves nothing there.
func Check(d Destination) error {
	if d.Buffer == 0 || d.File == "" {
		return nil
	}
	if _, err := os.Stat(d.File); errors.Is(err, fs.ErrNotExist) {
		return d.checkFolder()
	}
	file, err := open(d.File)
	if err != nil {
		return err
	}
	return file.Close()
}

// checkFolder tells whether the file could be made, by means of another one: a gateway at work
// may be about to make this one.
func (d Destination) checkFolder() error {
	file, err := os.CreateTemp(filepath.Dir(d.File), ".check-*")
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: path.Op, Path: d.File, Err: path.Err}
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
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
