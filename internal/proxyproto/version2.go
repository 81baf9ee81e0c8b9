package proxyproto

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/netip"
)

// What the 13th and 14th byte of a head of version 2 say.
const (
	local, proxy = 0x20, 0x21

	unspecified = 0x00
	tcp4, tcp6  = 0x11, 0x21
	unixStream  = 0x31
)

// longest2 is how much may follow the 16 bytes that all heads of version 2 have.
// Balancers that add names and certificates stay far below.
const longest2 = 4 << 10

func read2(r io.Reader, head []byte) (Header, error) {
	head = head[:16]
	if _, err := io.ReadFull(r, head[opening:]); err != nil {
		return Header{}, err
	}
	length := int(binary.BigEndian.Uint16(head[14:]))
	if length > longest2 {
		return Header{}, malformed("too long")
	}
	whole := append(head, make([]byte, length)...)
	if _, err := io.ReadFull(r, whole[16:]); err != nil {
		return Header{}, err
	}
	return parse2(whole)
}

// parse2 reads a whole head. Where no address can be believed, nothing of the rest is.
func parse2(head []byte) (Header, error) {
	rest := head[16:]
	switch head[12] {
	case local:
		return Header{Version: 2}, nil
	case proxy:
	default:
		return Header{}, malformed("neither LOCAL nor PROXY of version 2")
	}
	if head[13] == unspecified { // what is behind it has no known shape
		return Header{Version: 2}, nil
	}
	size, known := addressSize(head[13])
	if !known || len(rest) < 2*size {
		return Header{}, malformed("no addresses of a stream")
	}
	if err := checkVectors(head, 16+2*size); err != nil {
		return Header{}, err
	}
	h := Header{Version: 2}
	if head[13] == tcp4 || head[13] == tcp6 {
		n := size - 2
		h.Source = address2(rest[:n], rest[2*n:])
		h.Destination = address2(rest[n:2*n], rest[2*n+2:])
	}
	return h, nil
}

// addressSize is that of an address with its port.
func addressSize(family byte) (size int, known bool) {
	switch family {
	case tcp4:
		return 4 + 2, true
	case tcp6:
		return 16 + 2, true
	case unixStream:
		return 108, true
	}
	return 0, false
}

func address2(address, port []byte) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(address) // of the right length
	return netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(port))
}

const typeCRC32C = 0x03

// checkVectors skips the type-length-value vectors from an offset on, and verifies
// the checksum if one of them is that.
func checkVectors(head []byte, at int) error {
	for at < len(head) {
		if len(head)-at < 3 {
			return malformed("a vector is cut off")
		}
		kind, length := head[at], int(binary.BigEndian.Uint16(head[at+1:]))
		if at += 3; length > len(head)-at {
			return malformed("a vector is cut off")
		}
		if kind == typeCRC32C && !verifies(head, at, length) {
			return malformed("wrong checksum")
		}
		at += length
	}
	return nil
}

// verifies reports whether the CRC32c at an offset is that of the head, where it
// counts as zeros.
func verifies(head []byte, at, length int) bool {
	if length != crc32.Size {
		return false
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(0, table, head[:at])
	sum = crc32.Update(sum, table, make([]byte, crc32.Size))
	sum = crc32.Update(sum, table, head[at+length:])
	return sum == binary.BigEndian.Uint32(head[at:])
}
