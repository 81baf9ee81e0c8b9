package watch_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/leaktest"
	"github.com/gozer-gateway/gozer/internal/watch"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// files are watched files in a directory of their own.
type files struct {
	tb     testing.TB
	dir    string
	loads  chan watch.Sum // of "file" at each load
	signal chan struct{}

	mu       sync.Mutex
	settings watch.Settings
	loaded   watch.Sums
}

// patience is far longer than anything should take.
const patience = 20 * time.Second

func begin(t *testing.T, s watch.Settings, prepare func(dir string)) *files {
	t.Helper()
	f := &files{tb: t, dir: t.TempDir(), loads: make(chan watch.Sum, 100), signal: make(chan struct{}, 1), settings: s}
	prepare(f.dir)
	text, _ := os.ReadFile(f.path())
	f.loaded = watch.Sums{f.path(): sumOf(text)}
	w := watch.Watcher{
		Settings: func() watch.Settings { f.mu.Lock(); defer f.mu.Unlock(); return f.settings },
		Loaded:   func() watch.Sums { f.mu.Lock(); defer f.mu.Unlock(); return f.loaded },
		Load:     f.load,
		Changed:  f.signal,
		Logger:   slog.New(slog.DiscardHandler),
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return f
}

func sumOf(text []byte) watch.Sum {
	if text == nil {
		return watch.Sum{}
	}
	return sha256.Sum256(text)
}

func (f *files) path() string { return filepath.Join(f.dir, "conf", "file") }

func (f *files) load(_ context.Context, found watch.Sums) {
	f.mu.Lock()
	f.loaded = found
	f.mu.Unlock()
	f.loads <- found[f.path()]
}

// want waits for the load of a text, "" for none. On a busy machine the moment between two
// steps of a change may be long enough to be taken for its end: what was empty or absent
// then does not count.
func (f *files) want(text string) {
	f.tb.Helper()
	nothing := func(s watch.Sum) bool { return s == sumOf(nil) || s == sumOf([]byte{}) }
	got := f.next()
	for nothing(got) && text != "" {
		got = f.next()
	}
	if text != "" && got != sumOf([]byte(text)) || text == "" && !nothing(got) {
		f.tb.Errorf("something else was loaded than %q", text)
	}
}

// next waits for a load.
func (f *files) next() watch.Sum {
	f.tb.Helper()
	select {
	case got := <-f.loads:
		return got
	case <-time.After(patience):
		f.tb.Fatal("nothing is loaded")
		return watch.Sum{}
	}
}

// still fails the test if there was a load that nobody has asked for.
func (f *files) still() {
	f.tb.Helper()
	if n := len(f.loads); n > 0 {
		f.tb.Errorf("%d more loads", n)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	must(tb, os.MkdirAll(filepath.Dir(path), 0o700))
	must(tb, os.WriteFile(path, []byte(text), 0o600))
}

// fast has no poll, so that only events count.
func fast() watch.Settings { return watch.Settings{Delay: 10 * time.Millisecond} }

func plain(tb testing.TB) func(dir string) {
	tb.Helper()
	return func(dir string) { write(tb, filepath.Join(dir, "conf", "file"), "1") }
}

// configMap lays a file out as the kubelet does: file → ..data/file, ..data → a directory.
func configMap(tb testing.TB) func(dir string) {
	tb.Helper()
	return func(dir string) {
		write(tb, filepath.Join(dir, "conf", "..1", "file"), "1")
		must(tb, os.Symlink("..1", filepath.Join(dir, "conf", "..data")))
		must(tb, os.Symlink("..data/file", filepath.Join(dir, "conf", "file")))
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	swap := func(t *testing.T, dir, version string) {
		t.Helper()
		conf := filepath.Join(dir, "conf")
		write(t, filepath.Join(conf, ".."+version, "file"), version)
		must(t, os.Symlink(".."+version, filepath.Join(conf, "..data_tmp")))
		must(t, os.Rename(filepath.Join(conf, "..data_tmp"), filepath.Join(conf, "..data")))
	}
	tests := map[string]struct {
		prepare func(testing.TB) func(dir string)
		change  func(t *testing.T, dir, version string)
	}{
		"written in place": {plain, func(t *testing.T, dir, version string) {
			t.Helper()
			write(t, filepath.Join(dir, "conf", "file"), version)
		}},
		"an editor's rename": {plain, func(t *testing.T, dir, version string) {
			t.Helper()
			write(t, filepath.Join(dir, "conf", ".file.swp"), version)
			must(t, os.Rename(filepath.Join(dir, "conf", ".file.swp"), filepath.Join(dir, "conf", "file")))
		}},
		"a ConfigMap": {configMap, func(t *testing.T, dir, version string) {
			t.Helper()
			swap(t, dir, version)
			must(t, os.RemoveAll(filepath.Join(dir, "conf", ".."+string(version[0]-1))))
		}},
		"the directory is replaced": {plain, func(t *testing.T, dir, version string) {
			t.Helper()
			write(t, filepath.Join(dir, "next", "file"), version)
			must(t, os.Rename(filepath.Join(dir, "conf"), filepath.Join(dir, "old"+version)))
			must(t, os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "conf")))
		}},
		"the directory is a link": {
			func(tb testing.TB) func(dir string) {
				tb.Helper()
				return func(dir string) {
					write(tb, filepath.Join(dir, "elsewhere", "1", "file"), "1")
					must(tb, os.Symlink(filepath.Join(dir, "elsewhere", "1"), filepath.Join(dir, "conf")))
				}
			},
			func(t *testing.T, dir, version string) {
				t.Helper()
				write(t, filepath.Join(dir, "elsewhere", version, "file"), version)
				must(t, os.Symlink(filepath.Join("elsewhere", version), filepath.Join(dir, "link")))
				must(t, os.Rename(filepath.Join(dir, "link"), filepath.Join(dir, "conf")))
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := begin(t, fast(), test.prepare(t))
			for _, version := range []string{"2", "3", "4"} {
				test.change(t, f.dir, version)
				f.want(version)
			}
			f.still()
		})
	}
}

func TestDeletedAndBack(t *testing.T) {
	t.Parallel()
	f := begin(t, fast(), plain(t))
	must(t, os.Remove(f.path()))
	f.want("")
	write(t, f.path(), "2")
	f.want("2")
	must(t, os.RemoveAll(filepath.Dir(f.path())))
	f.want("")
	write(t, f.path(), "3")
	f.want("3")
}

func TestAppears(t *testing.T) {
	t.Parallel()
	f := begin(t, fast(), func(string) {})
	write(t, f.path(), "1")
	f.want("1")
}

// What had been there before the watch began is no longer waited for.
func TestChangedBefore(t *testing.T) {
	t.Parallel()
	f := begin(t, watch.Settings{Off: true}, plain(t))
	write(t, f.path(), "2")
	f.still()
	f.set(fast())
	f.want("2")
}

func (f *files) set(s watch.Settings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settings = s
	f.signal <- struct{}{}
}

// Content counts, and nothing else.
func TestSameContent(t *testing.T) {
	t.Parallel()
	f := begin(t, fast(), plain(t))
	for range 5 {
		file, err := os.OpenFile(f.path(), os.O_WRONLY, 0) // without a moment in which it is empty
		must(t, err)
		_, err = file.WriteString("1")
		must(t, err)
		must(t, file.Close())
		must(t, os.Chtimes(f.path(), time.Time{}, time.Now()))
	}
	write(t, filepath.Join(f.dir, "conf", "other"), "x")
	write(t, f.path(), "2")
	f.want("2")
	f.still()
}

// C202: half of a file is not loaded while the rest is being written.
func TestHalfWritten(t *testing.T) {
	t.Parallel()
	const delay = 2 * time.Second
	f := begin(t, watch.Settings{Delay: delay}, plain(t))
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	begun := time.Now()
	last, rests := begun, 0 // a writer that is kept from its work for so long seems to have ended
	file, err := os.OpenFile(f.path(), os.O_WRONLY|os.O_TRUNC, 0)
	must(t, err)
	var text strings.Builder
	for ; time.Since(begun) < delay+delay/5; <-tick.C {
		now := time.Now()
		_, err := file.WriteString("x")
		must(t, err)
		text.WriteString("x")
		if time.Since(last) >= delay {
			begun, rests = now, rests+1
		}
		last = now
	}
	must(t, file.Close())
	for ; f.next() != sumOf([]byte(text.String())); rests-- {
		if rests == 0 {
			t.Fatal("a part was loaded")
		}
	}
}

// Files that change on and on are loaded all the same.
func TestRestless(t *testing.T) {
	t.Parallel()
	f := begin(t, fast(), plain(t))
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			write(t, f.path(), time.Now().String())
			<-tick.C
		}
	})
	select {
	case <-f.loads:
	case <-time.After(patience):
		t.Error("never loaded")
	}
	stop()
	writer.Wait()
}

func TestPoll(t *testing.T) {
	t.Parallel()
	f := begin(t, watch.Settings{Delay: 10 * time.Millisecond, Poll: 20 * time.Millisecond}, func(dir string) {
		// No entry of a directory tells of a change through another name of the file.
		write(t, filepath.Join(dir, "far", "away", "name"), "1")
		must(t, os.MkdirAll(filepath.Join(dir, "conf"), 0o700))
		must(t, os.Link(filepath.Join(dir, "far", "away", "name"), filepath.Join(dir, "conf", "file")))
	})
	write(t, filepath.Join(f.dir, "far", "away", "name"), "2")
	f.want("2")
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	f := begin(t, fast(), plain(t))
	must(t, os.Remove(f.path()))
	must(t, os.Symlink("file", f.path())) // leads to itself
	f.want("")
	must(t, os.Remove(f.path()))
	must(t, os.Mkdir(f.path(), 0o700))
	must(t, os.Remove(f.path()))
	write(t, f.path(), "2")
	f.want("2")
}

// Thousands of changes leave neither descriptors nor goroutines behind; TestMain counts the
// latter.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	f := begin(t, watch.Settings{Delay: time.Millisecond}, configMap(t))
	for i := range 300 {
		text := string(rune('a' + i%26))
		write(t, f.path(), text)
		f.want(text)
	}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil && len(entries) > 100 {
		t.Errorf("%d descriptors are open", len(entries))
	}
}
