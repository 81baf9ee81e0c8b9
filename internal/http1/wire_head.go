package http1

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// field is one field line; its name is in canonical form.
type field struct{ name, value string }

type headKind uint8

const (
	requestHead headKind = iota
	responseHead
)

// head is the parsed head of one message. Its strings are slices of one string
// made per message; its memory is reused from message to message. It belongs
// to one goroutine.
type head struct {
	kind   headKind
	method string // request
	target string // request, as received
	status int    // response
	reason string // response
	minor  int    // of HTTP/1.x: 0 or 1
	fields []field

	// What finishRequest and finishResponse have made of the fields.
	host           string
	framing        framing
	chunked        bool  // Transfer-Encoding was there, if only for what a HEAD asks about
	length         int64 // of the body; -1 if only its end will tell
	connection     connectionOptions
	expectContinue bool
	upgrade        string // Upgrade field, "" for none

	scanner scanner
}

// reset prepares for the next message.
func (h *head) reset(kind headKind) {
	*h = head{kind: kind, fields: h.fields[:0], scanner: scanner{lines: h.scanner.lines[:0]}}
}

// forget drops all references to the last message, so that an idle connection
// does not keep it in memory.
func (h *head) forget() {
	clear(h.fields[:cap(h.fields)])
	h.reset(h.kind)
}

// read reads the head that comes next, consumes it and keeps its text.
func (h *head) read(r *reader, l *Limits) error {
	for {
		n, err := h.scan(r.buffered(), l)
		if err != nil {
			return err
		}
		if n > 0 {
			r.discard(n)
			return nil
		}
		if err := r.fill(); err != nil {
			return cutShort(err, len(r.buffered()))
		}
	}
}

// cutShort tells an end within a head from one before it.
func cutShort(err error, received int) error {
	if received > 0 && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// take makes the text of a complete head and slices it.
func (h *head) take(b []byte) {
	text, s := string(b), &h.scanner
	switch h.kind {
	case requestHead:
		h.method, h.target = text[s.first:s.second], text[s.second+1:s.third]
	case responseHead:
		h.reason = text[s.second:s.third]
	}
	for _, l := range s.lines {
		h.fields = append(h.fields, field{text[l.name:l.colon], text[l.value:l.end]})
	}
}

// fillHeader adds the fields to an empty dst. Values are slices of values,
// which is grown if it is too small and returned for the next message; they are
// cut to their length so that an append copies. The fields that net/http takes
// out of a header are left out too: Transfer-Encoding, a Trailer of a chunked
// message and, in requests, Host.
func (h *head) fillHeader(dst http.Header, values []string) []string {
	if cap(values) < len(h.fields) {
		values = make([]string, max(len(h.fields), 16))
	}
	values = values[:cap(values)]
	for i, f := range h.fields {
		if h.kept(f.name) {
			values[i] = f.value
			add(dst, f.name, values[i:i+1:i+1])
		}
	}
	return values
}

func add(dst http.Header, name string, value []string) {
	before := len(dst)
	earlier := dst[name]
	dst[name] = value
	if len(dst) == before {
		dst[name] = append(earlier, value...)
	}
}

func (h *head) kept(name string) bool {
	switch name {
	case "Host":
		return h.kind == responseHead
	case "Transfer-Encoding":
		return false
	case "Trailer":
		return !h.chunked
	}
	return true
}

// announced returns the names of a chunked message's Trailer fields as keys
// without values, nil if there are none. What must not be in a trailer section
// is left out.
func (h *head) announced() http.Header {
	if !h.chunked {
		return nil
	}
	var names http.Header
	for _, f := range h.fields {
		if f.name != "Trailer" {
			continue
		}
		for member := range members(f.value) {
			if name := http.CanonicalHeaderKey(member); headers.IsToken(name) && !forbiddenTrailer(name) {
				if names == nil {
					names = http.Header{}
				}
				names[name] = nil
			}
		}
	}
	return names
}

// connectionOptions are the members of Connection that concern this package.
type connectionOptions uint8

const (
	closeOption connectionOptions = 1 << iota
	keepAliveOption
	upgradeOption
)

func (o connectionOptions) has(option connectionOptions) bool { return o&option != 0 }

// persistent reports whether the connection may carry another message after
// this one (RFC 9112 9.3).
func (h *head) persistent() bool {
	if h.connection.has(closeOption) || h.framing == untilClose {
		return false
	}
	return h.minor == 1 || h.connection.has(keepAliveOption)
}

func (h *head) addConnection(value string) {
	for member := range members(value) {
		switch {
		case strings.EqualFold(member, "close"):
			h.connection |= closeOption
		case strings.EqualFold(member, "keep-alive"):
			h.connection |= keepAliveOption
		case strings.EqualFold(member, "upgrade"):
			h.connection |= upgradeOption
		}
	}
}
