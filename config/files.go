package config

import (
	"crypto/sha256"
	"slices"
)

// File is one that a configuration was read from, or would have been if it were there.
type File struct {
	Path string
	// Sum is of the content that was read; zero if the file could not be read.
	Sum [sha256.Size]byte
}

// Files are all files that decide about c, in the order of reading: the named one and one
// for each active profile. They are known of a configuration with errors too.
func (c *Config) Files() []File { return slices.Clone(c.files) }

// note keeps account of what was read, or that nothing could be.
func (l *loader) note(path string, data []byte, err error) {
	f := File{Path: path}
	if err == nil {
		f.Sum = sha256.Sum256(data)
	}
	l.files = append(l.files, f)
}
