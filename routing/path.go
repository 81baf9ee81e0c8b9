package routing

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnsafePath is wrapped by every refusal of a request path. The answer to it is 400.
var ErrUnsafePath = errors.New("routing: unsafe path")

// Path is a request path in its two forms. Both begin with a slash and have no dot segments.
type Path struct {
	// Raw is what goes upstream: the escaped bytes as received, but for dot segments and removed parameters.
	Raw string
	// Clean is what patterns are matched with: Raw without parameters, decoded once, encoded slashes being slashes and runs of slashes one.
	Clean string
}

// PathOptions are the settings that change how [ParsePath] reads a path. The zero value keeps parameters and bytes.
type PathOptions struct {
	// RemoveSemicolon (zuul.remove-semicolon-content) drops the parameters of every segment from Raw, "/a;v=1/b" giving "/a/b".
	// Otherwise only ";jsessionid=…" is dropped. Clean has no parameters in either case.
	RemoveSemicolon bool
	// Reencode (zuul.decode-url written out as true) decodes and encodes Raw again, as Zuul did: "/a%2Fb//c%2Bd" becomes "/a/b/c+d".
	Reencode bool
}

// ParsePath reads the escaped path of a request target, without its query, and refuses what servers are known to read in different ways:
// bytes that do not belong into a request target, broken escapes, encoded line ends and NUL, dot segments hidden behind encoded slashes,
// backslashes, semicolons or a second layer of encoding, and URLs in the place of a path. Errors wrap [ErrUnsafePath].
// It does not allocate when nothing has to be changed or decoded.
func ParsePath(raw string, o PathOptions) (Path, error) {
	plain, err := scan(raw)
	if err != nil {
		return Path{}, err
	}
	p := Path{Raw: raw, Clean: raw}
	if !plain || o.Reencode {
		if p, err = normalise(raw, o); err != nil {
			return Path{}, err
		}
	}
	if looksLikeURL(p.Clean) {
		return Path{}, fmt.Errorf("%w: %q is a URL", ErrUnsafePath, p.Clean[1:])
	}
	return p, nil
}

// LocalForward returns the path to ask the gateway's own handlers for when no route matches: Raw with runs of slashes made one.
func (p Path) LocalForward() string {
	return collapseSlashes(p.Raw)
}

// scan checks every byte of raw and reports whether raw is clean as it stands.
func scan(raw string) (plain bool, err error) {
	if raw == "" || raw[0] != '/' {
		return false, fmt.Errorf("%w: %q does not begin with a slash", ErrUnsafePath, raw)
	}
	plain = true
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '%':
			if err := checkEscape(raw, i); err != nil {
				return false, err
			}
			plain = false
			i += 2
		case c == ';', (c == '.' || c == '/') && i > 0 && raw[i-1] == '/':
			plain = false
		case refusedByte(c):
			return false, fmt.Errorf("%w: byte %q at position %d", ErrUnsafePath, c, i)
		}
	}
	return plain, nil
}

func refusedByte(c byte) bool {
	switch c {
	case '"', '<', '>', '\\', '#', '?':
		return true
	}
	return c <= ' ' || c >= 0x7f
}

func checkEscape(raw string, i int) error {
	if !isEscape(raw, i) {
		return fmt.Errorf("%w: malformed escape at position %d", ErrUnsafePath, i)
	}
	switch unhex(raw[i+1])<<4 | unhex(raw[i+2]) {
	case 0, '\r', '\n':
		return fmt.Errorf("%w: encoded control character at position %d", ErrUnsafePath, i)
	}
	return nil
}

// looksLikeURL recognises the resource locations that Zuul refuses, where a path should be.
func looksLikeURL(clean string) bool {
	colon := strings.IndexByte(clean, ':')
	if colon < 0 {
		return false
	}
	switch strings.ToLower(clean[1:max(1, colon)]) {
	case "url", "jar", "classpath":
		return true
	case "http", "https", "file", "ftp":
		return strings.HasPrefix(clean[colon+1:], "/")
	}
	return false
}
