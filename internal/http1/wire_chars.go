package http1

import (
	"encoding/binary"
	"math/bits"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// Sets of ASCII characters, one bit each.
const (
	digits   = (1<<10 - 1) << '0'
	letters  = (1<<26-1)<<'a' | (1<<26-1)<<'A'
	alphanum = digits | letters

	// plainPathSet is what a path may hold so that its decoded form and its
	// default encoding, as net/url has them, are the path itself.
	plainPathSet = alphanum | 1<<'-' | 1<<'_' | 1<<'.' | 1<<'~' | 1<<'$' | 1<<'&' | 1<<'+' | 1<<',' |
		1<<'/' | 1<<':' | 1<<';' | 1<<'=' | 1<<'@'

	// plainHostSet is what a Host without port and brackets needs.
	plainHostSet = alphanum | 1<<'-' | 1<<'.' | 1<<'_'

	lowHalf = 1<<64 - 1
)

func isToken(c byte) bool { return headers.IsTokenByte(c) }

func isPlainPath(c byte) bool {
	return 1<<c&(plainPathSet&lowHalf)|1<<(c-64)&uint64(plainPathSet>>64) != 0
}

func isPlainHost(c byte) bool {
	return 1<<c&(plainHostSet&lowHalf)|1<<(c-64)&uint64(plainHostSet>>64) != 0
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// nextControl returns the place of the first control character, tab and DEL
// included, at or after from; len(b) if there is none. It looks at eight bytes
// at a time: a byte below 0x20 borrows from its high bit, and so does a byte
// that is DEL once DEL is taken off all of them.
func nextControl(b []byte, from int) int {
	i := from
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		del := x ^ 0x7f*everyByte
		found := ((x-0x20*everyByte)&^x | (del-everyByte)&^del) & highBits
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if b[i] < ' ' || b[i] == 0x7f {
			return i
		}
	}
	return i
}
