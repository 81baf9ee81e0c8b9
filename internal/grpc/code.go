// Package grpc knows what a gateway has to know of gRPC over HTTP/2: which requests are
// calls, their deadlines, and how failures are told.
package grpc

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The fields of a call's end.
const (
	StatusField  = "Grpc-Status"
	MessageField = "Grpc-Message"
	TimeoutField = "Grpc-Timeout"
	ContentType  = "application/grpc"
)

// Code is a grpc-status.
type Code int

// The codes that the gateway itself gives or judges by.
const (
	OK                Code = 0
	Cancelled         Code = 1
	Unknown           Code = 2
	DeadlineExceeded  Code = 4
	PermissionDenied  Code = 7
	ResourceExhausted Code = 8
	Unimplemented     Code = 12
	Internal          Code = 13
	Unavailable       Code = 14
	DataLoss          Code = 15
	Unauthenticated   Code = 16
)

// names are those of the codes in order.
func names() []string {
	return []string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
	}
}

func (c Code) String() string {
	if all := names(); int(c) < len(all) {
		return all[c]
	}
	return strconv.Itoa(int(c))
}

// ParseCode reads a name, in any case, or a number.
func ParseCode(text string) (Code, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	if text == "CANCELED" {
		return Cancelled, true
	}
	all := names()
	if n := slices.Index(all, text); n >= 0 {
		return Code(n), true
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= len(all) {
		return Unknown, false
	}
	return Code(n), true
}

// CodeOf is the code of a failure with that HTTP status. It is gRPC's own mapping
// (https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md), which is made
// for answers of which nobody knows where they come from, but for what the gateway knows
// better: who ran out of time, and what was too large.
func CodeOf(status int) Code {
	switch status {
	case http.StatusBadRequest:
		return Internal
	case http.StatusUnauthorized:
		return Unauthenticated
	case http.StatusForbidden:
		return PermissionDenied
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return Unimplemented
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return DeadlineExceeded
	case http.StatusRequestEntityTooLarge, http.StatusRequestHeaderFieldsTooLarge:
		return ResourceExhausted
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable:
		return Unavailable
	}
	return Unknown
}

// IsCall reports that a request is a call: POST with a type of content that is gRPC's own.
// gRPC-Web is another protocol.
func IsCall(method string, h http.Header) bool {
	return method == http.MethodPost && IsContent(h)
}

// IsContent reports that a message has gRPC's type of content.
func IsContent(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) == 0 {
		return false
	}
	media, _, _ := strings.Cut(values[0], ";")
	const n = len(ContentType)
	media = strings.TrimSpace(media)
	return len(media) >= n && strings.EqualFold(media[:n], ContentType) && (len(media) == n || media[n] == '+')
}

// Ended returns the code in the header of a response that consists of nothing else, or in
// its trailer.
func Ended(fields http.Header) (Code, bool) {
	values := fields[StatusField]
	if len(values) != 1 {
		return Unknown, false
	}
	n, err := strconv.ParseUint(values[0], 10, 8)
	return Code(n), err == nil
}
