package filters

import (
	"errors"
	"io"
	"net/http"
)

// Response is the answer on its way to the client. Post filters may change
// every field, and wrap or replace Body.
type Response struct {
	Status int
	Header http.Header

	// Body is read once, by SendResponse; nil means no body. The chain closes
	// it when the request ends, whatever happened.
	Body io.ReadCloser

	// ContentLength is the length of Body, -1 when it is not known. A filter
	// that changes the length of the body sets it to the new length or to -1.
	ContentLength int64

	// Trailer holds the trailer fields; it may be filled only when Body has
	// been read to its end. Nil means none.
	Trailer http.Header
}

type lengther interface{ Len() int }

func lengthOf(body io.Reader) int64 {
	if l, ok := body.(lengther); ok {
		return int64(l.Len())
	}
	return -1
}

func closerOf(body io.Reader) io.ReadCloser {
	if rc, ok := body.(io.ReadCloser); ok {
		return rc
	}
	return io.NopCloser(body)
}

// closeBoth returns a closer for a and b; a may be nil.
func closeBoth(a, b io.Closer) io.Closer {
	if a == nil {
		return b
	}
	return closers{a, b}
}

type closers [2]io.Closer

func (c closers) Close() error { return errors.Join(c[0].Close(), c[1].Close()) }
