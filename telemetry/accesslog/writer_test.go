package accesslog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// output is a destination that can be slow or broken.
type output struct {
	mu     sync.Mutex
	text   bytes.Buffer
	err    error
	room   int           // so much is taken, once, if it is not 0
	resume chan struct{} // each write waits for it; nil
}

func (o *output) Write(p []byte) (int, error) {
	if o.resume != nil {
		<-o.resume
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	if room := o.room; room > 0 {
		o.room = 0
		n, _ := o.text.Write(p[:room])
		return n, errors.New("no space left")
	}
	return o.text.Write(p)
}

func (o *output) breaks(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// run runs a writer in the bubble until the end of the test.
func run(t *testing.T, w *accesslog.Writer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx) }()
	synctest.Wait()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

func to(buffer int) accesslog.Destination {
	return accesslog.Destination{Buffer: buffer, Interval: time.Second}
}

func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestWhenLinesAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &output{}
		w := accesslog.NewWriter(out, slog.New(slog.DiscardHandler))
		w.Configure(to(100))
		stop := run(t, w)
		wait(100 * time.Millisecond)
		w.Write([]byte("one\n"))
		synctest.Wait()
		if out.String() != "" {
			t.Error("written at once, though a line costs a system call then")
		}
		wait(time.Second)
		if out.String() != "one\n" {
			t.Errorf("after the interval: %q", out)
		}
		w.Write([]byte(strings.Repeat("x", 59) + "\n"))
		synctest.Wait()
		if len(out.String()) != 64 {
			t.Error("a buffer that is more than half full waits")
		}
		w.Write([]byte("last\n"))
		stop()
		if !strings.HasSuffix(out.String(), "last\n") || w.Lines() != 3 || w.Lost() != 0 {
			t.Errorf("at the end: %q, %d lines, %d lost", out, w.Lines(), w.Lost())
		}
	})
}

// Lines of any length keep their order, and the last ones count towards the room like the rest.
func TestLongAndShortLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 100_000
		out := &output{}
		w := accesslog.NewWriter(out, slog.New(slog.DiscardHandler))
		w.Configure(to(room))
		var want strings.Builder
		for i, length := range []int{10, 4000, 90, 5000, 1, 4096, 4097, 3, 20_000, 60_000, 2000} {
			line := strings.Repeat(string(rune('a'+i)), length-1) + "\n"
			w.Write([]byte(line))
			want.WriteString(line)
		}
		rest := room - want.Len()
		w.Write(make([]byte, rest+1))
		w.Write(bytes.Repeat([]byte{'\n'}, rest))
		w.Write([]byte{'\n'})
		want.WriteString(strings.Repeat("\n", rest))
		run(t, w)
		wait(time.Second)
		if out.String() != want.String() || w.Lost() != 2 || w.Lines() != 12 {
			t.Errorf("%d bytes of %d, or in another order; %d lines, %d lost", len(out.String()), want.Len(), w.Lines(), w.Lost())
		}
	})
}

func TestLinesWithoutRoomAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &output{resume: make(chan struct{})}
		w := accesslog.NewWriter(out, slog.New(slog.DiscardHandler))
		w.Configure(to(8))
		run(t, w)
		for range 5 {
			w.Write([]byte("four\n"))
			synctest.Wait()
		}
		if w.Lines() != 2 || w.Lost() != 3 {
			t.Errorf("%d lines accepted, %d lost; one is being written, one fits in", w.Lines(), w.Lost())
		}
		close(out.resume)
		wait(2 * time.Second)
		w.Write([]byte("five\n"))
		wait(2 * time.Second)
		if out.String() != "four\nfour\nfive\n" {
			t.Errorf("%q", out)
		}
	})
}

// A reader of standard output that hangs does not keep the gateway from ending.
func TestEndBesideAPipeThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &output{resume: make(chan struct{})}
		w := accesslog.NewWriter(out, slog.New(slog.DiscardHandler))
		w.Configure(to(100))
		stop := run(t, w)
		w.Write([]byte("stuck\n"))
		wait(2 * time.Second)
		began := time.Now()
		stop()
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
		close(out.resume)
	})
}

func TestTroubleIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, told := &output{}, &output{}
		w := accesslog.NewWriter(out, slog.New(slog.NewTextHandler(told, nil)))
		w.Configure(to(100))
		run(t, w)
		out.breaks(errors.New("no space left"))
		for range 3 {
			w.Write([]byte("a\nb\n"))
			wait(time.Second)
		}
		if strings.Count(told.String(), "no space left") != 1 || w.Lost() != 6 {
			t.Errorf("%d lost: %s", w.Lost(), told)
		}
		wait(time.Minute)
		if strings.Contains(told.String(), "written again") {
			t.Errorf("nothing has been written: %s", told)
		}
		out.breaks(nil)
		w.Write([]byte("c\n"))
		wait(time.Second)
		if out.String() != "c\n" || strings.Count(told.String(), "written again") != 1 {
			t.Errorf("%q, %s", out, told)
		}
	})
}

// A disk that is full takes a part of a line.
func TestLineAfterATornOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &output{room: 6}
		w := accesslog.NewWriter(out, slog.New(slog.DiscardHandler))
		w.Configure(to(100))
		run(t, w)
		w.Write([]byte("one\ntwo\nthree\n"))
		wait(2 * time.Second)
		w.Write([]byte("four\n"))
		wait(2 * time.Second)
		if out.String() != "one\ntw\nfour\n" || w.Lost() != 2 {
			t.Errorf("%q, %d lost", out, w.Lost())
		}
	})
}

// Who waits too long hears why.
func TestTooManyLinesAreToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &output{}
		w := accesslog.NewWriter(&output{}, slog.New(slog.NewTextHandler(told, nil)))
		w.Configure(to(8))
		for range 3 {
			w.Write([]byte("four\n"))
		}
		run(t, w)
		wait(2 * time.Second)
		if w.Lost() != 2 || strings.Count(told.String(), "faster than they are taken") != 1 {
			t.Errorf("%d lost: %s", w.Lost(), told)
		}
	})
}

// Nothing gets to standard output that was not meant to.
func TestLinesStayOffStandardOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "a.log")
		out := &output{}
		w := accesslog.NewWriter(out, slog.New(slog.DiscardHandler))
		d := to(100)
		d.File = name
		w.Configure(d)
		run(t, w)
		w.Write([]byte("one\n"))
		w.Configure(accesslog.Destination{Interval: time.Second}) // switched off
		w.Write([]byte("two\n"))
		wait(2 * time.Second)
		if w.Lost() != 0 {
			t.Errorf("%d lost of none", w.Lost())
		}
		d.File = filepath.Join(t.TempDir(), "absent", "a.log")
		w.Configure(d)
		w.Write([]byte("three\n"))
		wait(2 * time.Second)
		if got, err := os.ReadFile(name); err != nil || string(got) != "one\n" || out.String() != "" || w.Lost() != 1 {
			t.Errorf("%q in the file, %v, %q on standard output, %d lost", got, err, out, w.Lost())
		}
	})
}

func TestFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		name, moved, other := filepath.Join(dir, "a.log"), filepath.Join(dir, "a.log.1"), filepath.Join(dir, "b.log")
		out, told := &output{}, &output{}
		w := accesslog.NewWriter(out, slog.New(slog.NewTextHandler(told, nil)))
		in := func(file string) { d := to(100); d.File = file; w.Configure(d) }
		line := func(text string) { w.Write([]byte(text + "\n")); wait(time.Second) }
		in(name)
		if err := w.Open(); err != nil {
			t.Fatal(err)
		}
		stop := run(t, w)
		line("one")
		if err := os.Rename(name, moved); err != nil {
			t.Fatal(err)
		}
		line("two")
		w.Reopen()
		wait(time.Second)
		line("three")
		in(filepath.Join(dir, "absent", "a.log"))
		line("four")
		in(other)
		line("five")
		in("")
		line("six")
		stop()
		for file, want := range map[string]string{moved: "one\ntwo\n", name: "three\nfour\n", other: "five\n"} {
			if got, err := os.ReadFile(file); err != nil || string(got) != want {
				t.Errorf("%s holds %q, %v", filepath.Base(file), got, err)
			}
		}
		if out.String() != "six\n" || strings.Count(told.String(), "no such file") != 1 || w.Lost() != 0 {
			t.Errorf("%q on standard output, %d lost, %s", out, w.Lost(), told)
		}
	})
}

func TestFileThatCannotBeOpened(t *testing.T) {
	w := accesslog.NewWriter(&output{}, slog.New(slog.DiscardHandler))
	d := to(100)
	d.File = t.TempDir()
	w.Configure(d)
	if err := w.Open(); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
}
