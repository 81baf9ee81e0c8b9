package watch

import (
	"errors"
	"maps"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// events are those of the directories that the watched files are found by. The zero value
// has none.
type events struct {
	watcher *fsnotify.Watcher
	trail   trail
	told    chan struct{} // one slot
	ended   chan struct{}
}

// arm begins to listen. With an error there are fewer events than there should be; what
// it returns is usable all the same and has to be closed.
func arm(paths []string) (*events, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return &events{}, err
	}
	e := &events{watcher: watcher, trail: trail{}, told: make(chan struct{}, 1), ended: make(chan struct{})}
	var problems []error
	for _, p := range paths {
		problems = append(problems, e.trail.follow(p))
	}
	for _, dir := range slices.Sorted(maps.Keys(e.trail)) {
		problems = append(problems, watcher.Add(dir))
	}
	go e.filter()
	return e, errors.Join(problems...)
}

// next has a value after each event that may concern the files.
func (e *events) next() <-chan struct{} { return e.told }

// filter passes on what concerns the trail. What goes wrong, such as an overflow,
// is taken for an event.
func (e *events) filter() {
	defer close(e.ended)
	for {
		select {
		case event, open := <-e.watcher.Events:
			if !open {
				return
			}
			if e.trail.has(event.Name) || e.trail[event.Name] != nil {
				e.tell()
			}
		case _, open := <-e.watcher.Errors:
			if !open {
				return
			}
			e.tell()
		}
	}
}

func (e *events) tell() {
	select {
	case e.told <- struct{}{}:
	default:
	}
}

func (e *events) close() {
	if e.watcher == nil {
		return
	}
	_ = e.watcher.Close() // inotify's descriptor; nothing is lost with it
	<-e.ended
}
