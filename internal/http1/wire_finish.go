package http1

import (
	"net/http"
	"strings"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// finishRequest draws the conclusions from a complete request head, or refuses
// it.
func (h *head) finishRequest() error {
	f, hosts, err := h.gather()
	if err != nil {
		return err
	}
	if err := h.checkHost(hosts); err != nil {
		return err
	}
	if h.framing, h.length, err = f.body(h.minor); err != nil {
		return err
	}
	h.chunked = h.framing == chunkedBody
	return h.checkTarget()
}

// finishResponse draws the conclusions from a complete response head to a
// request with the method, or refuses it. length is -1 only for a body of
// unknown length; for a response to HEAD it is what Content-Length says, and -1
// without one.
func (h *head) finishResponse(method string) error {
	f, _, err := h.gather()
	if err == nil {
		h.framing, h.length, err = f.body(h.minor)
	}
	if err != nil {
		return asBadGateway(err)
	}
	h.chunked = h.framing == chunkedBody
	switch {
	case method == http.MethodHead:
		if f.lengths == 0 {
			h.length = -1
		}
		h.framing = noBody
	case noBodyStatus(h.status):
		h.framing, h.length = noBody, 0
	case f.lengths == 0 && f.codings == 0:
		h.framing, h.length = untilClose, -1
	}
	return nil
}

// gather evaluates the fields that concern the connection and the body, and
// counts the Host lines.
func (h *head) gather() (f framingFields, hosts int, err error) {
	for i := range h.fields {
		name, value := h.fields[i].name, h.fields[i].value
		switch name {
		case "Host":
			h.host = value
			hosts++
		case "Content-Length":
			err = f.addLength(value)
		case "Transfer-Encoding":
			err = f.addCoding(value)
		case "Connection":
			h.addConnection(value)
		case "Upgrade":
			h.upgrade = value
		case "Trailer":
			err = checkAnnouncement(value)
		case "Expect":
			err = h.expect(value)
		}
		if err != nil {
			return f, hosts, err
		}
	}
	return f, hosts, nil
}

func (h *head) expect(value string) error {
	switch {
	case h.kind == responseHead || h.minor == 0: // means nothing there
	case strings.EqualFold(value, "100-continue"):
		h.expectContinue = true
	case value != "":
		return refuse(http.StatusExpectationFailed, "unknown expectation")
	}
	return nil
}

// checkHost applies RFC 9112 3.2: exactly one valid Host in HTTP/1.1, at most one
// in HTTP/1.0.
func (h *head) checkHost(lines int) error {
	switch {
	case lines > 1:
		return malformed("more than one Host")
	case lines == 0 && h.minor == 1:
		return malformed("no Host")
	case lines == 1 && !validHost(h.host):
		return malformed("invalid Host")
	}
	return nil
}

// validHost is headers.ParseAuthority, with a shorter way for usual names.
func validHost(host string) bool {
	end := 0
	for end < len(host) && isPlainHost(host[end]) {
		end++
	}
	if end > 0 && (end == len(host) || isPlainPort(host[end:])) {
		return true
	}
	_, ok := headers.ParseAuthority(host)
	return ok
}

// isPlainPort knows most ports with their colon, and nothing else.
func isPlainPort(s string) bool {
	if len(s) < 2 || len(s) > 5 || s[0] != ':' || s[1] == '0' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// checkAnnouncement refuses to be told that framing comes after the body.
func checkAnnouncement(value string) error {
	for member := range members(value) {
		switch http.CanonicalHeaderKey(member) {
		case "Content-Length", "Trailer", "Transfer-Encoding":
			return malformed("framing field announced as a trailer")
		}
	}
	return nil
}

func asBadGateway(err error) error {
	if refused, ok := err.(*Error); ok { //nolint:errorlint // made by this package, never wrapped
		return refuse(http.StatusBadGateway, refused.Reason)
	}
	return err
}
