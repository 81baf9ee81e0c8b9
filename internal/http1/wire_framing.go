package http1

import (
	"net/http"
	"strings"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// framing is how a body is delimited (RFC 9112 6.3).
type framing uint8

const (
	noBody framing = iota
	lengthBody
	chunkedBody
	untilClose
)

// framingFields collects what a head says about its body.
type framingFields struct {
	lengths, codings int // lines of Content-Length and Transfer-Encoding
	length           int64
}

// body finds the framing that the fields give, noBody if they say nothing.
// Anything that two recipients could read in two ways is refused.
func (f *framingFields) body(minor int) (framing, int64, error) {
	switch {
	case f.codings > 0 && f.lengths > 0:
		return noBody, 0, malformed("both Content-Length and Transfer-Encoding")
	case f.codings > 0 && minor == 0:
		return noBody, 0, malformed("Transfer-Encoding in HTTP/1.0")
	case f.codings > 1:
		return noBody, 0, malformed("more than one Transfer-Encoding")
	case f.codings == 1:
		return chunkedBody, -1, nil
	case f.lengths > 1:
		return noBody, 0, malformed("more than one Content-Length")
	case f.lengths == 1 && f.length > 0:
		return lengthBody, f.length, nil
	}
	return noBody, 0, nil
}

func (f *framingFields) addLength(value string) error {
	n, ok := parseLength(value)
	if !ok {
		return malformed("invalid Content-Length")
	}
	f.lengths++
	f.length = n
	return nil
}

// parseLength reads decimal digits and nothing else, up to 2^63-1.
func parseLength(s string) (int64, bool) {
	var n uint64
	for i := range len(s) {
		if !isDigit(s[i]) || n > (1<<63-1)/10 {
			return 0, false
		}
		if n = n*10 + uint64(s[i]-'0'); n > 1<<63-1 {
			return 0, false
		}
	}
	return int64(n), s != ""
}

// addCoding accepts "chunked" alone. A coding in front of it is one that is not
// implemented; anything else leaves the end of the body open.
func (f *framingFields) addCoding(value string) error {
	f.codings++
	if strings.EqualFold(value, "chunked") {
		return nil
	}
	before, last := "", value
	if comma := strings.LastIndexByte(value, ','); comma >= 0 {
		before, last = value[:comma], strings.Trim(value[comma+1:], " \t")
	}
	if strings.EqualFold(last, "chunked") && areCodings(before) {
		return refuse(http.StatusNotImplemented, "transfer coding not supported")
	}
	return malformed("invalid Transfer-Encoding")
}

// areCodings reports whether a list names only codings other than chunked.
func areCodings(list string) bool {
	some := false
	for member := range members(list) {
		if !headers.IsToken(member) || strings.EqualFold(member, "chunked") {
			return false
		}
		some = true
	}
	return some
}

// noBodyStatus reports whether responses with the status never have a body.
func noBodyStatus(status int) bool {
	return status < http.StatusOK || status == http.StatusNoContent || status == http.StatusNotModified
}
