package eureka

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// snapshotEvery is how often a list that changes is written at most.
const snapshotEvery = 10 * time.Second

// snapshotFile keeps the last good list on disk, so that a gateway that starts while
// the registry is down has one. A missing name switches it off.
type snapshotFile struct {
	name    string
	saved   *View
	written time.Time
}

func newSnapshotFile(s ClientSettings) *snapshotFile { return &snapshotFile{name: s.SnapshotFile} }

// load gives the client the list of the file, if there is a good one.
func (f *snapshotFile) load(c *Client) bool {
	if f.name == "" {
		return false
	}
	log := c.settings.Servers.Logger
	file, err := os.Open(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	var list *Applications
	if err == nil {
		defer file.Close()
		list, err = (Decoder{Limits: c.settings.Servers.Limits}).Applications(bufio.NewReader(file))
	}
	if err != nil {
		log.Warn("eureka: snapshot not read", "file", f.name, "error", err)
		return false
	}
	f.saved = newView(list, c.settings.AllStatuses)
	c.view.Store(f.saved)
	c.mu.Lock()
	c.state.Restored = true
	c.mu.Unlock()
	log.Info("eureka: list of instances restored from the snapshot, until the registry answers", "file", f.name, "instances", f.saved.Len())
	return true
}

// offer writes the list unless that has just been done.
func (f *snapshotFile) offer(c *Client) {
	if now := time.Now(); now.Sub(f.written) >= snapshotEvery {
		f.save(c)
		f.written = now
	}
}

// save writes a list that came from the registry and has not been written yet.
func (f *snapshotFile) save(c *Client) {
	view := c.View()
	if f.name == "" || view == f.saved || c.State().Fetched.IsZero() {
		return
	}
	if err := f.write(view); err != nil {
		c.settings.Servers.Logger.Warn("eureka: snapshot not written", "file", f.name, "error", err)
		return
	}
	f.saved = view
}

// write replaces the file as a whole, or not at all.
func (f *snapshotFile) write(v *View) (err error) {
	next, err := os.CreateTemp(filepath.Dir(f.name), filepath.Base(f.name)+".*.tmp") // readable by its owner alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(next.Name()))
		}
	}()
	err = errors.Join(Encoder{}.WriteApplications(next, v.list()), next.Sync(), next.Close())
	if err != nil {
		return fmt.Errorf("eureka: writing the snapshot: %w", err)
	}
	return os.Rename(next.Name(), f.name)
}
