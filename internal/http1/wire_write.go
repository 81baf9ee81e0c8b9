package http1

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// message is what a head says beside its header: how the body is delimited and
// what becomes of the connection.
type message struct {
	framing framing
	length  int64 // of a lengthBody; with noBody and explicit, the length to tell

	// explicit writes Content-Length though there is no body: 0 for an empty
	// one, and the length a response to HEAD stands for.
	explicit bool

	endToEnd bool // fields that end at this hop are left out

	close     bool // Connection: close
	te        bool // Connection: TE, which has to accompany a TE field
	keepAlive bool // Connection: keep-alive, for HTTP/1.0 clients

	date    string      // written as Date if the header has none; "" for none
	trailer http.Header // its names are announced if the body is chunked
}

// UnsendableError is the failure to write a message that cannot be sent as it is.
// Whoever made the message is to blame: nothing of it has left.
type UnsendableError string

const (
	errFieldName  UnsendableError = "invalid field name"
	errFieldValue UnsendableError = "control character in a field value"
	errTarget     UnsendableError = "invalid request target"
	errMethod     UnsendableError = "invalid method"
	errHost       UnsendableError = "invalid host"
	errStatus     UnsendableError = "invalid status code"
)

func (e UnsendableError) Error() string { return "http1: " + string(e) }

// CallersFault tells package lb that no server has failed.
func (UnsendableError) CallersFault() bool { return true }

// appendRequestHead appends the head of r in origin form. Host comes from r.Host
// or else the URL. Nothing is added but what m says; an empty User-Agent is left
// out, as net/http does, and so are fields that m decides about. A TE field gets
// the Connection option that it needs (RFC 9110 10.1.4).
func appendRequestHead(dst []byte, r *http.Request, m message) ([]byte, error) {
	if !headers.IsToken(r.Method) {
		return dst, errMethod
	}
	dst = append(append(dst, r.Method...), ' ')
	dst, err := appendTarget(dst, r.URL)
	if err != nil {
		return dst, err
	}
	host := r.Host
	if host == "" {
		host = withoutZone(r.URL.Host)
	}
	if !validHost(host) {
		return dst, errHost
	}
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = append(append(dst, host...), "\r\n"...)
	for name, values := range r.Header {
		if name == "Host" || name == "User-Agent" && len(values) == 1 && values[0] == "" {
			continue
		}
		if dst, err = appendField(dst, name, values); err != nil {
			return dst, err
		}
		m.te = m.te || name == "Te"
	}
	return appendMessage(dst, m), nil
}

// withoutZone takes the zone, which means something on this machine only, off
// an IPv6 address.
func withoutZone(host string) string {
	zone := strings.IndexByte(host, '%')
	end := strings.LastIndexByte(host, ']')
	if zone < 0 || end < zone || host[0] != '[' {
		return host
	}
	return host[:zone] + host[end:]
}

// appendTarget appends the target that URL.RequestURI gives.
func appendTarget(dst []byte, u *url.URL) ([]byte, error) {
	start := len(dst)
	switch {
	case u.Opaque != "" && !strings.HasPrefix(u.Opaque, "//"):
		dst = append(dst, u.Opaque...)
	case u.Opaque == "" && u.RawPath == "" && u.Path != "" && isPlain(u.Path):
		dst = append(dst, u.Path...)
	default:
		path := *u
		path.RawQuery, path.ForceQuery = "", false
		dst = append(dst, path.RequestURI()...)
	}
	if u.ForceQuery || u.RawQuery != "" {
		dst = append(append(dst, '?'), u.RawQuery...)
	}
	target := dst[start:]
	if !isTarget(target) || target[0] != '/' && u.Opaque == "" && string(target) != "*" {
		return dst, errTarget
	}
	return dst, nil
}

// appendResponseHead appends a response head. What m decides about is left out
// of h, except that a 101 keeps its own Connection and the Upgrade of a 426 has the one
// that it needs (RFC 9110 7.8), and keys that begin with
// http.TrailerPrefix are left out too.
func appendResponseHead(dst []byte, status int, h http.Header, m message) ([]byte, error) {
	if status < 100 || status > 999 {
		return dst, errStatus
	}
	if noBodyStatus(status) {
		m.framing, m.explicit = noBody, m.explicit && status == http.StatusNotModified
	}
	dst = appendStatusLine(dst, status)
	var err error
	for name, values := range h {
		if m.leavesOut(name, status) {
			continue
		}
		if dst, err = appendField(dst, name, values); err != nil {
			return dst, err
		}
	}
	if status == http.StatusUpgradeRequired && len(h["Upgrade"]) > 0 && !m.endToEnd {
		dst = append(dst, "Connection: Upgrade\r\n"...)
	}
	if m.date != "" && len(h["Date"]) == 0 {
		dst = append(append(append(dst, "Date: "...), m.date...), "\r\n"...)
	}
	return appendMessage(dst, m), nil
}

// leavesOut reports that a field of a response's header is not sent with it.
func (m *message) leavesOut(name string, status int) bool {
	return name == "Connection" && status != http.StatusSwitchingProtocols || strings.HasPrefix(name, http.TrailerPrefix) || m.endToEnd && headers.IsHopByHop(name)
}

// appendInterimHead appends a 1xx response.
func appendInterimHead(dst []byte, status int, h http.Header) ([]byte, error) {
	return appendResponseHead(dst, status, h, message{})
}

func appendStatusLine(dst []byte, status int) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(append(dst, ' '), http.StatusText(status)...)
	return append(dst, "\r\n"...)
}

// appendField appends one line per value, unless the framing fields decide.
func appendField(dst []byte, name string, values []string) ([]byte, error) {
	switch name {
	case "Content-Length", "Transfer-Encoding", "Trailer":
		return dst, nil
	}
	if !headers.IsToken(name) {
		return dst, errFieldName
	}
	for _, value := range values {
		dst = append(append(dst, name...), ": "...)
		start := len(dst)
		dst = append(dst, value...)
		if !isValue(dst[start:]) {
			return dst, errFieldValue
		}
		dst = append(dst, "\r\n"...)
	}
	return dst, nil
}

// isValue reports whether b holds no control character except tabs.
func isValue(b []byte) bool {
	for i := nextControl(b, 0); i < len(b); i = nextControl(b, i+1) {
		if b[i] != '\t' {
			return false
		}
	}
	return true
}

// appendMessage appends the fields that m stands for and ends the head.
func appendMessage(dst []byte, m message) []byte {
	switch {
	case m.framing == chunkedBody:
		dst = append(dst, "Transfer-Encoding: chunked\r\n"...)
		if names := announcement(m.trailer); names != "" {
			dst = append(append(append(dst, "Trailer: "...), names...), "\r\n"...)
		}
	case m.tellsLength():
		dst = append(dst, "Content-Length: "...)
		dst = append(strconv.AppendInt(dst, m.length, 10), "\r\n"...)
	}
	if m.close {
		dst = append(dst, "Connection: close\r\n"...)
	} else if m.keepAlive {
		dst = append(dst, "Connection: keep-alive\r\n"...)
	}
	if m.te {
		dst = append(dst, "Connection: TE\r\n"...)
	}
	return append(dst, "\r\n"...)
}

func (m *message) tellsLength() bool {
	return m.framing == lengthBody || m.framing == noBody && m.explicit
}

// announcement is the value of Trailer, empty without a field that may be one.
func announcement(trailer http.Header) string {
	var names []string
	for name := range trailer {
		if headers.IsToken(name) && !forbiddenTrailer(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
