package pemfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Path is the name of a file without the "file:" that Spring allows in front.
func Path(file string) string { return strings.TrimPrefix(file, "file:") }

// Named says which file err is about, unless what stands in place of its name may be a key.
func Named(file string, err error) error {
	if err == nil || isText(file) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

var errText = errors.New("PEM text stands where the name of a file belongs")

// The marks of PEM text, and of its lines without them: base64, which for DER begins with an
// M. Its slashes make it look like a path.
var (
	armour = regexp.MustCompile(`-----BEGIN|PRIVATE KEY|[\r\n]`)
	base64 = regexp.MustCompile(`[A-Za-z0-9+=]{32}|[A-Za-z0-9+/=]{64}|^\W*M[A-Za-z0-9+/=]{39}`)
)

func isText(file string) bool {
	path := Path(file)
	return armour.MatchString(path) || base64.MatchString(path) && !known(path)
}

// known tells whether a path leads to a file, or into a folder.
func known(path string) bool {
	if _, err := os.Lstat(path); err == nil {
		return true
	}
	folder := filepath.Dir(path)
	_, err := os.Stat(folder)
	return err == nil && folder != "." && folder != "/"
}
