package proxyproto

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// Header is what a head says.
type Header struct {
	Version int // 1 or 2

	// Source is the client's address and Destination the one it connected to,
	// IPv4 in its own form. They are invalid if the balancer speaks for itself
	// (LOCAL) or does not know (UNKNOWN, unspecified and Unix addresses): then
	// the connection is the balancer's own.
	Source, Destination netip.AddrPort
}

// ErrMalformed says that a connection does not begin with a proper head.
var ErrMalformed = errors.New("proxyproto: malformed head")

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

// opening is how much of a head is read to tell its version: no head is shorter.
const opening = 12

// signature begins a head of version 2.
const signature = "\r\n\r\n\x00\r\nQUIT\n"

// Read reads a head and nothing behind it.
func Read(r io.Reader) (Header, error) {
	head := make([]byte, opening, 256)
	if _, err := io.ReadFull(r, head); err != nil {
		return Header{}, err
	}
	switch {
	case string(head) == signature:
		return read2(r, head)
	case string(head[:len(keyword)]) == keyword:
		return read1(r, head)
	}
	return Header{}, malformed("neither version 1 nor 2")
}
