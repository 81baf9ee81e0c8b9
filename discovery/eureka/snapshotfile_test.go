package eureka_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

func TestEureka107SnapshotBridgesARestart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "eureka.json")
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		f.put(eureka.Added, up("USERS", "u1"), up("BOOKS", "b1"))
		s := r.poll("r")
		s.SnapshotFile = name
		c := follow(t, s)
		c.after(time.Second)
		c.end()
	})
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		s := r.poll("r")
		s.SnapshotFile = name
		c := follow(t, s)
		defer c.end()
		c.after(time.Minute)
		c.want(t, "books: b1", "users: u1")
		if state := c.State(); !state.Restored || !state.Fetched.IsZero() {
			t.Errorf("state %+v", state)
		}
		wantLogged(t, r, "restored from the snapshot")

		t.Log("the registry's list replaces it as a whole, even with an empty one")
		r.start(t, "r", f)
		c.after(time.Minute)
		c.want(t)
		if c.State().Restored {
			t.Error("still said to be restored")
		}
	})
}

func TestSnapshotsThatCannotBeRead(t *testing.T) {
	for name, content := range map[string]string{"nonsense": "nonsense", "cut off": `{"applications":{"application":[`, "empty": ""} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "eureka.json")
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r, f := newRig(), newFake()
				r.start(t, "r", f)
				f.put(eureka.Added, up("USERS", "u1"))
				s := r.poll("r")
				s.SnapshotFile = file
				c := follow(t, s)
				c.after(time.Second)
				c.want(t, "users: u1")
				c.end()
				wantLogged(t, r, "snapshot not read")
			})
			if got, err := os.ReadFile(file); err != nil || cmp.Equal(string(got), content) {
				t.Error("it was not replaced", err)
			}
		})
	}
}

func TestSnapshotWithoutAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nowhere", "eureka.json")
	synctest.Test(t, func(t *testing.T) {
		r, f := newRig(), newFake()
		r.start(t, "r", f)
		f.put(eureka.Added, up("USERS", "u1"))
		s := r.poll("r")
		s.SnapshotFile = file
		c := follow(t, s)
		c.after(time.Second)
		c.want(t, "users: u1")
		c.end()
		wantLogged(t, r, "snapshot not written")
	})
}

// While nothing was ever fetched the file stays as it is, and no half of one is left.
func TestSnapshotIsKeptWithoutARegistry(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "eureka.json")
	content := `{"applications":{"application":[{"name":"USERS","instance":[{"app":"USERS"}]}]}}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newRig().poll("r")
		s.SnapshotFile = file
		c := follow(t, s)
		c.after(time.Minute)
		c.end()
	})
	if got, err := os.ReadFile(file); err != nil || string(got) != content {
		t.Errorf("%s, %v", got, err)
	}
	if names, err := os.ReadDir(folder); err != nil || len(names) != 1 {
		t.Error(names, err)
	}
}
