package eureka

import (
	"maps"
	"sync"
	"time"
)

// self is this process's own instance and whether the registry knows its last changes
// (section 3.2).
type self struct {
	mu       sync.Mutex // guards the fields below
	instance *Instance
	dirty    bool
	changed  func() // called, without the lock, after a change of status
}

// snapshot is the instance at this moment.
func (s *self) snapshot() *Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance
}

// edit changes the instance if change says so, and marks it.
func (s *self) edit(change func(i *Instance) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.instance.Clone()
	if !change(next) {
		return false
	}
	s.instance = next
	s.mark()
	return true
}

// mark makes the instance dirty as of now, and later than before; the lock is held.
func (s *self) mark() {
	now := time.UnixMilli(time.Now().UnixMilli())
	if !now.After(s.instance.LastDirty) {
		now = s.instance.LastDirty.Add(time.Millisecond)
	}
	next := *s.instance
	next.LastDirty = now
	s.instance, s.dirty = &next, true
}

// markDirty makes the registry hear of the instance again and returns it.
func (s *self) markDirty() *Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark()
	return s.instance
}

// unsent gives the instance if the registry does not know it as it is.
func (s *self) unsent() *Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dirty {
		return nil
	}
	return s.instance
}

// sent notes that the registry knows the instance as it was at a time; what changed
// since stays to be sent.
func (s *self) sent(dirty time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.instance.LastDirty.After(dirty) {
		s.dirty = false
	}
}

// setStatus reports whether the status is another one now.
func (s *self) setStatus(status Status) bool {
	changed := s.edit(func(i *Instance) bool {
		if i.Status == status {
			return false
		}
		i.Status = status
		return true
	})
	if changed && s.changed != nil {
		s.changed()
	}
	return changed
}

// addMetadata reports whether it changed something.
func (s *self) addMetadata(more map[string]string) bool {
	return s.edit(func(i *Instance) bool {
		before := maps.Clone(i.Metadata)
		if i.Metadata == nil {
			i.Metadata = map[string]string{}
		}
		maps.Copy(i.Metadata, more)
		return !maps.Equal(before, i.Metadata)
	})
}
