package http1

import "net/http"

// scanner remembers how far a head has been examined, so that each byte is
// looked at once however the head arrives. Places count from the start of the
// buffered bytes.
type scanner struct {
	at    int  // the next byte to examine
	line  int  // start of the current line
	blank int  // empty lines in front of the start line
	begun bool // the start line is complete
	lines []line

	first, second, third int // ends of the start line's parts, see requestLine and statusLine
}

// line is the place of a field line.
type line struct{ name, colon, value, end int }

// scan examines b, everything received of the head so far. It returns the
// length of the head once it is complete, and 0 as long as it is not. Names are
// brought into canonical form within b, where the next call must find them. It
// refuses at the first offending byte, without waiting for the end of a line.
func (h *head) scan(b []byte, l *Limits) (int, error) {
	n, err := h.scanLines(b, l)
	if err != nil && h.kind == responseHead {
		return 0, asBadGateway(err)
	}
	return n, err
}

func (h *head) scanLines(b []byte, l *Limits) (int, error) {
	s := &h.scanner
	for {
		s.at = nextControl(b, s.at)
		if s.at == len(b) || b[s.at] == '\r' && s.at+1 == len(b) {
			return 0, h.withinLimits(b, s.at, l)
		}
		if b[s.at] == '\t' && (s.begun || h.kind == responseHead) {
			s.at++
			continue
		}
		if b[s.at] != '\r' || b[s.at+1] != '\n' {
			return 0, malformed(controlIn(b[s.at]))
		}
		if n, err := h.endLine(b, l); n > 0 || err != nil {
			return n, err
		}
	}
}

func controlIn(c byte) string {
	switch c {
	case '\r':
		return "bare CR"
	case '\n':
		return "line ends in a bare LF"
	}
	return "control character"
}

// endLine takes the line that ends at s.at. It returns the length of the head if
// that was the empty line at its end.
func (h *head) endLine(b []byte, l *Limits) (int, error) {
	s := &h.scanner
	start, end := s.line, s.at
	if err := h.withinLimits(b, end, l); err != nil {
		return 0, err
	}
	s.at += 2
	s.line = s.at
	switch {
	case !s.begun && end == start && h.kind == requestHead && s.blank < 1:
		s.blank++
		return 0, nil
	case !s.begun:
		s.begun = true
		return 0, h.startLine(b, start, end)
	case end == start:
		h.take(b[:s.at])
		return s.at, nil
	}
	place, err := fieldLine(b, start, end)
	s.lines = append(s.lines, place)
	return 0, err
}

func (h *head) startLine(b []byte, start, end int) error {
	if h.kind == requestHead {
		return h.requestLine(b, start, end)
	}
	return h.statusLine(b, start, end)
}

// withinLimits checks the head up to end, where its current line ends so far.
func (h *head) withinLimits(b []byte, end int, l *Limits) error {
	s := &h.scanner
	switch {
	case !s.begun && h.kind == requestHead:
		if end-s.line > l.RequestLine {
			return tooLong(b[s.line:end])
		}
	case end > l.HeaderBytes:
		return refuse(http.StatusRequestHeaderFieldsTooLarge, "head too large")
	case len(s.lines) == l.Headers && end > s.line:
		return refuse(http.StatusRequestHeaderFieldsTooLarge, "too many fields")
	}
	return nil
}

// fieldLine takes a field line apart and brings its name into canonical form.
func fieldLine(b []byte, start, end int) (line, error) {
	if b[start] == ' ' || b[start] == '\t' {
		return line{}, malformed("folded line or white space before a field")
	}
	colon := start + canonicalise(b[start:end])
	if colon <= start {
		return line{}, malformed("invalid field name")
	}
	value := colon + 1
	for value < end && isBlank(b[value]) {
		value++
	}
	for end > value && isBlank(b[end-1]) {
		end--
	}
	return line{start, colon, value, end}, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// canonicalise brings the name in front of the first colon into canonical form
// and returns the place of the colon, -1 if what precedes it is no name.
func canonicalise(line []byte) int {
	upper := true
	for i, c := range line {
		switch {
		case c == ':':
			return i
		case !isToken(c):
			return -1
		case upper && 'a' <= c && c <= 'z', !upper && 'A' <= c && c <= 'Z':
			line[i] = c ^ 0x20
		}
		upper = c == '-'
	}
	return -1
}
