package accesslog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"
)

// put writes the lines. What a pipe does not take in time stays for the next turn, so
// that nobody's not reading it keeps the writer from going elsewhere.
func (w *Writer) put(out io.Writer) error {
	if w.file != nil {
		_ = w.file.SetWriteDeadline(time.Now().Add(patience)) // what is no pipe has none
	}
	if out == nil {
		w.lose()
		return nil
	}
	written, err := 0, w.payLineEnd(out)
	if err == nil {
		written, err = out.Write(w.full)
	}
	if written > 0 {
		w.torn = w.full[written-1] != '\n'
	}
	w.full = append(w.full[:0], w.full[written:]...)
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	w.owes, w.torn = w.owes || w.torn, false
	w.lose()
	return err
}

// lose drops the lines that should have been written.
func (w *Writer) lose() {
	w.lost.Add(int64(bytes.Count(w.full, []byte{'\n'})))
	w.full = w.full[:0]
}

// payLineEnd ends the line of which a full disk has taken but a part.
func (w *Writer) payLineEnd(out io.Writer) error {
	if !w.owes {
		return nil
	}
	_, err := out.Write([]byte{'\n'})
	w.owes = err != nil
	return err
}

// errSlow is what lines without room tell of.
var errSlow = errors.New("lines come faster than they are taken")

// tell logs what has changed. That all is well again is only known once something has
// been written.
func (w *Writer) tell(err error, some bool) {
	lost := w.Lost()
	if err == nil && lost > w.toldLost {
		err = errSlow
	}
	w.toldLost = lost
	switch {
	case err != nil && !w.troubled:
		w.log.Error("the access log cannot be written", "error", err, "lost", lost)
		w.troubled = true
	case err == nil && some && w.troubled:
		w.log.Info("the access log is written again", "lost", lost)
		w.troubled = false
	}
}
