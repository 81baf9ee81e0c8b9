package headers

import (
	"fmt"
	"slices"
)

// Check refuses a field that cannot be sent as it is (RFC 9110 5.1, 5.5): a name
// that is no token, a control character other than tab in a value.
func Check(name string, values []string) error {
	if !IsToken(name) {
		return fmt.Errorf("invalid field name %q", name)
	}
	if slices.ContainsFunc(values, hasControl) {
		return fmt.Errorf("field %s has a control character in its value", name)
	}
	return nil
}

func hasControl(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// IsToken reports whether s is a token (RFC 9110 5.6.2), as names of fields and
// methods are.
func IsToken(s string) bool {
	for i := range len(s) {
		if !IsTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

// tokenSet has a bit for every character of a token.
const tokenSet = (1<<10-1)<<'0' | (1<<26-1)<<'a' | (1<<26-1)<<'A' |
	1<<'!' | 1<<'#' | 1<<'$' | 1<<'%' | 1<<'&' | 1<<'\'' | 1<<'*' | 1<<'+' |
	1<<'-' | 1<<'.' | 1<<'^' | 1<<'_' | 1<<'`' | 1<<'|' | 1<<'~'

// IsTokenByte reports whether c may stand in a token.
func IsTokenByte(c byte) bool {
	return 1<<c&(tokenSet&(1<<64-1))|1<<(c-64)&uint64(tokenSet>>64) != 0
}
