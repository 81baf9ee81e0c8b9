package eureka_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// restart makes the registry forget everything, its changes too.
func (f *fake) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.instances, f.changes = map[string]*eureka.Instance{}, nil
}

func TestListOfARestartedRegistry(t *testing.T) {
	for name, row := range map[string]struct {
		keep  time.Duration
		after func(f *fake) // what happens in the registry after its restart
		wait  time.Duration // from then on
		want  []string
	}{
		"what it lacks stays":                 {90 * time.Second, nil, 30 * time.Second, []string{"books: b1", "users: u1 u2"}},
		"for the time that is set":            {90 * time.Second, nil, 2 * time.Minute, nil},
		"or not at all":                       {0, nil, 30 * time.Second, nil},
		"what registers again is not doubled": {90 * time.Second, func(f *fake) { f.put(eureka.Added, up("USERS", "u1")) }, 60 * time.Second, []string{"books: b1", "users: u1 u2"}},
		"and stays when the time is over":     {90 * time.Second, func(f *fake) { f.put(eureka.Added, up("USERS", "u1")) }, 2 * time.Minute, []string{"users: u1"}},
		"a goodbye counts": {90 * time.Second, func(f *fake) {
			f.put(eureka.Added, up("USERS", "u1"), up("USERS", "u2"))
			f.put(eureka.Deleted, up("USERS", "u2"))
		}, 60 * time.Second, []string{"books: b1", "users: u1"}},
		"a list of half the length is the truth": {90 * time.Second, func(f *fake) {
			f.put(eureka.Added, up("USERS", "u1"), up("USERS", "u3"))
		}, 30 * time.Second, []string{"users: u1 u3"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				f.put(eureka.Added, up("USERS", "u1"), up("USERS", "u2"), up("BOOKS", "b1"))
				s := r.poll("r")
				s.KeepVanished = row.keep
				c := follow(t, s)
				defer c.end()
				c.after(0)
				c.want(t, "books: b1", "users: u1 u2")
				f.restart()
				if row.after != nil && row.wait > 30*time.Second {
					c.after(30 * time.Second)
				}
				if row.after != nil {
					row.after(f)
				}
				c.after(row.wait)
				c.want(t, row.want...)
			})
		})
	}
}
