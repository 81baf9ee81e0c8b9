package routing

import (
	"fmt"
	"strings"
)

var errEncodedCut = fmt.Errorf("%w: the stripped prefix ends at an encoded slash", ErrUnsafePath)

// strip says which leading segments of a path stay at home: the first keep segments go upstream, the next drop do not.
type strip struct{ keep, drop int }

// apply works on escaped bytes. Nothing but the dropped segments and the slashes in front of them is lost.
func (s strip) apply(raw string) (string, error) {
	if s.drop == 0 {
		return raw, nil
	}
	from := skipSegments(raw, 0, s.keep)
	to := skipSegments(raw, from, s.drop)
	if !cutsCleanly(raw, from) || !cutsCleanly(raw, to) {
		return "", errEncodedCut
	}
	return raw[:from] + raw[to:], nil
}

// cutsCleanly reports whether raw can be cut at pos without leaving an encoded slash at the start of what follows.
func cutsCleanly(raw string, pos int) bool {
	return pos == len(raw) || raw[pos] == '/'
}

// skipSegments returns the position behind the next n segments that are not empty, parameters included.
func skipSegments(raw string, pos, n int) int {
	for range n {
		pos = skipSegment(raw, pos)
	}
	return pos
}

func skipSegment(raw string, pos int) int {
	for empty := true; empty && pos < len(raw); {
		width := separatorWidth(raw, pos)
		pos += width
		pos, empty = skipParameters(raw, pos), width > 0
	}
	for pos < len(raw) && raw[pos] != ';' && separatorWidth(raw, pos) == 0 {
		pos++
	}
	return skipParameters(raw, pos)
}

// skipParameters returns the position of the slash that ends the path parameters at pos, or pos if there are none.
func skipParameters(raw string, pos int) int {
	if pos == len(raw) || raw[pos] != ';' {
		return pos
	}
	if slash := strings.IndexByte(raw[pos:], '/'); slash >= 0 {
		return pos + slash
	}
	return len(raw)
}

// separatorWidth returns the number of bytes of the plain or encoded slash at pos, 0 if there is none.
func separatorWidth(raw string, pos int) int {
	switch {
	case raw[pos] == '/':
		return 1
	case raw[pos] == '%' && len(raw) >= pos+3 && raw[pos+1] == '2' && raw[pos+2]|0x20 == 'f':
		return 3
	}
	return 0
}

// JoinURLPath puts a route-local path behind the path of a route's URL, both escaped. Only the join may lose or gain a slash:
// "/base/" and "//k" give "/base//k", "/base" and "" give "/base". The result is never empty.
func JoinURLPath(base, local string) string {
	switch {
	case base == "" && local == "":
		return "/"
	case local == "":
		return base
	case strings.HasSuffix(base, "/") && local[0] == '/':
		return base[:len(base)-1] + local
	case strings.HasSuffix(base, "/") || local[0] == '/':
		return base + local
	}
	return base + "/" + local
}

// splitSegments returns what stands between slashes, without the empty strings.
func splitSegments(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}
