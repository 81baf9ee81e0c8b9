package config

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// randomPlaces gives the values of ${random.…}: each place has its own, which is the same
// whenever that place is read with that seed.
type randomPlaces struct {
	seed string
	key  string // whose value is being read
	n    int    // values drawn for it
}

func (r *randomPlaces) draw() [sha256.Size]byte {
	r.n++
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", r.seed, r.key, r.n))
}

var randomRange = regexp.MustCompile(`^random\.(int|long)[(\[]\s*(-?[0-9]+)\s*(?:,\s*(-?[0-9]+)\s*)?[)\]]$`)

// value knows what Spring calls random.value, random.int[1,10] and so on; the upper end
// of a range is outside it.
func (r *randomPlaces) value(name string) (value string, found bool, err error) {
	if !strings.HasPrefix(name, "random.") {
		return "", false, nil
	}
	drawn := r.draw()
	number := binary.BigEndian.Uint64(drawn[:])
	switch name {
	case "random.value":
		return hex.EncodeToString(drawn[:16]), true, nil
	case "random.uuid":
		return uuid([16]byte(drawn[:16])), true, nil
	case "random.int":
		return strconv.Itoa(int(int32(number))), true, nil //nolint:gosec // any number will do
	case "random.long":
		return strconv.FormatInt(int64(number), 10), true, nil //nolint:gosec // any number will do
	}
	m := randomRange.FindStringSubmatch(name)
	if m == nil {
		return "", false, nil
	}
	low, high, ok := limits(m[1], m[2], m[3])
	if !ok {
		return "", false, fmt.Errorf("${%s} has no numbers in its range", redact(name))
	}
	//nolint:gosec // right whatever the signs, and what is added to low ends before high
	between := low + int64(number%(uint64(high)-uint64(low)))
	return strconv.FormatInt(between, 10), true, nil
}

// limits reads a range. One number is its end.
func limits(kind, first, second string) (low, high int64, ok bool) {
	bits := 64
	if kind == "int" {
		bits = 32
	}
	if second == "" {
		first, second = "0", first
	}
	low, errLow := strconv.ParseInt(first, 10, bits)
	high, errHigh := strconv.ParseInt(second, 10, bits)
	return low, high, errLow == nil && errHigh == nil && low < high
}

// uuid is one of version 4.
func uuid(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
