package h2

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/internal/headers"
	"github.com/gozer-gateway/gozer/internal/http1"
)

func malformed(reason string) *http1.Error {
	return &http1.Error{Status: http.StatusBadRequest, Reason: reason}
}

// check refuses what net/http lets pass and HTTP/1.1 could not carry, or would read differently
// (RFC 9113 8.2, 8.3 and 10.3). Afterwards Host is the only authority of the request.
func (s *Settings) check(r *http.Request) *http1.Error {
	if !headers.IsToken(r.Method) {
		return malformed("invalid :method")
	}
	if err := s.checkTarget(r); err != nil {
		return err
	}
	if err := checkAuthority(r); err != nil {
		return err
	}
	if err := s.checkFields(r); err != nil {
		return err
	}
	return checkBody(r)
}

// checkTarget leaves the inside of a path to the handler.
func (s *Settings) checkTarget(r *http.Request) *http1.Error {
	target := r.RequestURI
	switch {
	case s.RequestLine > 0 && len(r.Method)+len(target)+len("  HTTP/2.0") > s.RequestLine:
		return &http1.Error{Status: http.StatusRequestURITooLong, Reason: "request line too long"}
	case r.Method == http.MethodConnect:
		return nil
	case target == "*" && r.Method == http.MethodOptions:
		return nil
	case !strings.HasPrefix(target, "/"):
		return malformed(":path does not begin with a slash")
	case strings.ContainsFunc(target, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '#' }):
		return malformed("invalid character in :path")
	}
	return nil
}

// checkAuthority makes :authority and Host one, which has to be there.
func checkAuthority(r *http.Request) *http1.Error {
	hosts := r.Header["Host"]
	if len(hosts) > 1 || len(hosts) == 1 && !strings.EqualFold(hosts[0], r.Host) {
		return malformed("Host is not :authority")
	}
	delete(r.Header, "Host")
	if _, ok := headers.ParseAuthority(r.Host); !ok {
		return malformed("invalid :authority")
	}
	return nil
}

// checkFields counts bytes as HTTP/1.1 would have them.
func (s *Settings) checkFields(r *http.Request) *http1.Error {
	count, size := 0, len(r.Method)+len(r.RequestURI)+len("  HTTP/2.0\r\nHost: \r\n\r\n")+len(r.Host)
	for name, values := range r.Header {
		if slices.ContainsFunc(values, blankAtEnds) {
			return malformed("white space around a value")
		}
		if count += len(values); s.Headers > 0 && count > s.Headers {
			return &http1.Error{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "too many fields"}
		}
		if headers.Check(name, values) != nil {
			return malformed("invalid field")
		}
		for _, v := range values {
			size += len(name) + len(v) + len(": \r\n")
		}
	}
	if s.HeaderBytes > 0 && size > s.HeaderBytes {
		return &http1.Error{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "head too large"}
	}
	return nil
}

func blankAtEnds(v string) bool {
	return v != "" && (isBlank(v[0]) || isBlank(v[len(v)-1]))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// checkBody refuses a length that net/http does not read or look at.
func checkBody(r *http.Request) *http1.Error {
	if expected := r.Header["Expect"]; len(expected) > 0 {
		return &http1.Error{Status: http.StatusExpectationFailed, Reason: "unknown expectation"}
	}
	lengths, announced := r.Header["Content-Length"]
	if !announced {
		return nil
	}
	switch {
	case len(lengths) != 1 || !isDecimal(lengths[0]):
		return malformed("invalid content-length")
	case r.ContentLength == 0 && strings.Trim(lengths[0], "0") != "":
		return malformed("content-length of a request without a body")
	}
	return nil
}

func isDecimal(s string) bool {
	return s != "" && len(s) < 19 && strings.Trim(s, "0123456789") == ""
}
