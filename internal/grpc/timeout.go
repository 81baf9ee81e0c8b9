package grpc

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

type unit struct {
	letter byte
	length time.Duration
}

// units are those of grpc-timeout, the finest first.
func units() [6]unit {
	return [6]unit{{'n', time.Nanosecond}, {'u', time.Microsecond}, {'m', time.Millisecond}, {'S', time.Second}, {'M', time.Minute}, {'H', time.Hour}}
}

// mostDigits bounds the number of a grpc-timeout.
const mostDigits = 8

// Timeout reads grpc-timeout. One that is malformed or missing is none; one that is too long
// for a Duration is as long as that can be.
func Timeout(h http.Header) (time.Duration, bool) {
	values := h[TimeoutField]
	if len(values) != 1 || len(values[0]) < 2 || len(values[0]) > mostDigits+1 {
		return 0, false
	}
	last := len(values[0]) - 1
	n, err := strconv.ParseUint(values[0][:last], 10, 64)
	if err != nil {
		return 0, false
	}
	for _, u := range units() {
		if u.letter != values[0][last] {
			continue
		}
		if n > uint64(math.MaxInt64/u.length) {
			return math.MaxInt64, true
		}
		return time.Duration(n) * u.length, true
	}
	return 0, false
}

// FormatTimeout writes a grpc-timeout in the finest unit that has room for it, rounded up.
func FormatTimeout(d time.Duration) string {
	d = max(d, 0)
	for _, u := range units() {
		n := int64(d / u.length)
		if d%u.length > 0 {
			n++
		}
		if n >= 1e8 {
			continue
		}
		return strconv.FormatInt(n, 10) + string(u.letter)
	}
	return "99999999H"
}
