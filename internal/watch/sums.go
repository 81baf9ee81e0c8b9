package watch

import (
	"crypto/sha256"
	"io"
	"maps"
	"os"
	"slices"
)

// Sum stands for the content of a file; zero for a file that cannot be read.
type Sum = [sha256.Size]byte

// Sums are files by path.
type Sums map[string]Sum

func (s Sums) paths() []string { return slices.Sorted(maps.Keys(s)) }

func read(paths []string) Sums {
	sums := make(Sums, len(paths))
	for _, p := range paths {
		sums[p] = sumOf(p)
	}
	return sums
}

// sumOf reads a regular file; what a pipe or a device holds would be lost to its reader.
func sumOf(path string) (sum Sum) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return sum
	}
	f, err := os.Open(path)
	if err != nil {
		return sum
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum
	}
	return Sum(h.Sum(nil))
}
