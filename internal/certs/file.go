package certs

import (
	"os"
	"time"

	"github.com/gozer-gateway/gozer/internal/pemfile"
)

// stamp tells whether a file is still the one that was read. Links are followed, so the
// swap of a folder's link shows, as Kubernetes does it.
type stamp struct {
	info os.FileInfo // nil: it cannot be looked at
	size int64
	at   time.Time
}

func stampOf(file string) stamp {
	info, err := os.Stat(pemfile.Path(file))
	if err != nil {
		return stamp{}
	}
	return stamp{info: info, size: info.Size(), at: info.ModTime()}
}

func (s stamp) same(t stamp) bool {
	if s.info == nil || t.info == nil {
		return s.info == t.info
	}
	return s.size == t.size && s.at.Equal(t.at) && os.SameFile(s.info, t.info)
}

// stamps are those of the files of one thing, taken before it is read, so that what
// changes meanwhile is seen the next time.
type stamps [2]stamp

func stampsOf(files ...string) (s stamps) {
	for i, file := range files {
		s[i] = stampOf(file)
	}
	return s
}

func (s stamps) same(t stamps) bool { return s[0].same(t[0]) && s[1].same(t[1]) }
