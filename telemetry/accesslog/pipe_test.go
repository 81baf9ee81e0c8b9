//go:build unix

package accesslog_test

import (
	"bufio"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// Neither the start nor a reload waits for somebody to read a pipe.
func TestPipeThatNobodyReads(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	w := accesslog.NewWriter(&output{}, slog.New(slog.DiscardHandler))
	w.Configure(accesslog.Destination{File: pipe, Buffer: 1 << 10, Interval: time.Millisecond})
	if err := w.Open(); err == nil || !strings.Contains(err.Error(), "nobody reads the pipe") {
		t.Errorf("opened: %v", err)
	}
}

// A reader that has stopped reading does not keep the log in the pipe for good: another
// file gets whole lines.
func TestPipeIsLeft(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	w := accesslog.NewWriter(&output{}, slog.New(slog.DiscardHandler))
	d := accesslog.Destination{File: pipe, Buffer: 1 << 20, Interval: time.Millisecond}
	w.Configure(d)
	if err := w.Open(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx) }()
	defer func() { stop(); <-ended }()
	const line = "a line of some length\n"
	for range 10_000 { // more than a pipe holds
		w.Write([]byte(line))
	}
	d.File = file
	w.Configure(d)
	w.Write([]byte("last\n"))
	var got string
	look, enough := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer look.Stop()
	for !strings.HasSuffix(got, "last\n") {
		select {
		case <-look.C:
			got = read(file)
		case <-enough:
			t.Fatalf("%d bytes in the file", len(got))
		}
	}
	for s := bufio.NewScanner(strings.NewReader(got)); s.Scan(); {
		if text := s.Text(); text+"\n" != line && text != "last" {
			t.Errorf("%q is no line", text)
		}
	}
}

func read(file string) string {
	text, _ := os.ReadFile(file) // not there yet
	return string(text)
}
