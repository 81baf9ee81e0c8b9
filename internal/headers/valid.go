package headers

import (
	"fmt"
	"strings"
)

// Check refuses a field that cannot be sent as it is (RFC 9110 5.1, 5.5): a name
// that is no token, a control character other than tab in a value.
func Check(name string, values []string) error {
	if !IsToken(name) {
		return fmt.Errorf("invalid field name %q", name)
	}
	for _, v := range values {
		if strings.IndexFunc(v, isControl) >= 0 {
			return fmt.Errorf("field %s has a control character in its value", name)
		}
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// IsToken reports whether s is a token (RFC 9110 5.6.2), as names of fields and
// methods are.
func IsToken(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
