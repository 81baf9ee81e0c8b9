package http1

import (
	"bytes"
	"net/http"
)

// longestMethod is longer than any registered method.
const longestMethod = 32

// requestLine takes apart "method SP target SP HTTP/1.x".
func (h *head) requestLine(b []byte, start, end int) error {
	line, s := b[start:end], &h.scanner
	method := bytes.IndexByte(line, ' ')
	version := bytes.LastIndexByte(line, ' ')
	switch {
	case method > longestMethod:
		return tooLong(line)
	case method <= 0 || version == method || !areTokens(line[:method]):
		return malformed("invalid request line")
	case !isTarget(line[method+1 : version]):
		return malformed("invalid character in the request target")
	}
	s.first, s.second, s.third = start, start+method, start+version
	return h.version(line[version+1:])
}

// version reads HTTP-version. A minor version above 1 is served as 1, which it
// must be compatible with.
func (h *head) version(v []byte) error {
	if len(v) != len("HTTP/1.1") || string(v[:5]) != "HTTP/" || !isDigit(v[5]) || v[6] != '.' || !isDigit(v[7]) {
		return malformed("invalid protocol version")
	}
	if v[5] != '1' {
		return refuse(http.StatusHTTPVersionNotSupported, "protocol version not supported")
	}
	h.minor = min(int(v[7]-'0'), 1)
	return nil
}

// tooLong tells a target that is too long from a method.
func tooLong(line []byte) error {
	if len(line) > longestMethod && areTokens(line[:longestMethod+1]) {
		return refuse(http.StatusNotImplemented, "method too long")
	}
	return refuse(http.StatusRequestURITooLong, "request line too long")
}

// statusLine takes apart "HTTP/1.x SP status [SP reason]"; some servers leave
// out the second space when they have no reason to give.
func (h *head) statusLine(b []byte, start, end int) error {
	line := b[start:end]
	if len(line) < len("HTTP/1.1 200") || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return malformed("invalid status line")
	}
	for _, c := range line[9:12] {
		if !isDigit(c) {
			return malformed("invalid status code")
		}
		h.status = h.status*10 + int(c-'0')
	}
	if h.status < 100 {
		return malformed("invalid status code")
	}
	h.scanner.second, h.scanner.third = min(start+13, end), end
	return h.version(line[:8])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func areTokens(b []byte) bool {
	for _, c := range b {
		if !isToken(c) {
			return false
		}
	}
	return true
}

// isTarget reports whether every byte is visible ASCII and none begins a
// fragment. Controls have been refused before.
func isTarget(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	return len(b) > 0
}
