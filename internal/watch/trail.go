package watch

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symbolic links on the way to a file.
const maxLinks = 40

// A trail are the entries of directories that decide what a path leads to: each symbolic
// link on the way, the file and its directory, and what is missing. By directory.
type trail map[string]map[string]bool

func (t trail) add(dir, name string) {
	if t[dir] == nil {
		t[dir] = map[string]bool{}
	}
	t[dir][name] = true
}

// has reports whether an entry of a directory, given as one path, is on the trail.
func (t trail) has(path string) bool {
	return t[filepath.Dir(path)][filepath.Base(path)]
}

// follow adds what a path leads over.
func (t trail) follow(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, names := root, split(path[len(root):])
	for links := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, there := look(next)
		if len(names) < 2 || !there || target != "" {
			t.add(at, name)
		}
		switch {
		case !there: // to be continued when it appears
			return nil
		case target == "":
			at = next
			continue
		}
		if links++; links > maxLinks {
			return nil // one of them has to change first
		}
		if filepath.IsAbs(target) {
			at, target = root, strings.TrimPrefix(target, root)
		}
		names = append(split(target), names...)
	}
	return nil
}

// look tells whether a path exists, and where it leads if it is a symbolic link.
func look(path string) (target string, there bool) {
	target, err := os.Readlink(path)
	if err == nil {
		return target, true
	}
	_, err = os.Lstat(path)
	return "", err == nil
}

func split(path string) []string {
	var names []string
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}
