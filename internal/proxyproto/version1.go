package proxyproto

import (
	"io"
	"net/netip"
	"strconv"
	"strings"
)

const (
	keyword  = "PROXY "
	longest1 = 107 // bytes, line end included
)

// shortest is how long a head of version 1 is at least, by what it begins with.
func shortest(head []byte) int {
	switch string(head[len(keyword):opening]) {
	case "TCP4 ":
		return len("PROXY TCP4 1.1.1.1 1.1.1.1 1 1\r\n")
	case "TCP6 ":
		return len("PROXY TCP6 :: :: 1 1\r\n")
	}
	return len("PROXY UNKNOWN\r\n")
}

// read1 reads on up to the line end: what must be there at once, the rest byte
// by byte, for nobody can put back what lies behind.
func read1(r io.Reader, head []byte) (Header, error) {
	head = head[:min(shortest(head), longest1)]
	if _, err := io.ReadFull(r, head[opening:]); err != nil {
		return Header{}, err
	}
	for !strings.HasSuffix(string(head), "\r\n") {
		if len(head) == longest1 {
			return Header{}, malformed("no line end")
		}
		head = head[:len(head)+1]
		if _, err := io.ReadFull(r, head[len(head)-1:]); err != nil {
			return Header{}, err
		}
	}
	return parse1(strings.TrimSuffix(string(head), "\r\n"))
}

func parse1(line string) (Header, error) {
	if strings.ContainsAny(line, "\r\n") {
		return Header{}, malformed("a line end within")
	}
	fields := strings.Split(line, " ")
	if fields[1] == "UNKNOWN" {
		return Header{Version: 1}, nil // what follows is to be ignored
	}
	if len(fields) != 6 || fields[1] != "TCP4" && fields[1] != "TCP6" {
		return Header{}, malformed("not TCP4, TCP6 or UNKNOWN with two addresses and two ports")
	}
	source, ok1 := address1(fields[1], fields[2], fields[4])
	destination, ok2 := address1(fields[1], fields[3], fields[5])
	if !ok1 || !ok2 {
		return Header{}, malformed("no addresses and ports of its family")
	}
	return Header{1, source, destination}, nil
}

func address1(family, address, port string) (netip.AddrPort, bool) {
	addr, err := netip.ParseAddr(address)
	n, portErr := strconv.ParseUint(port, 10, 16)
	ok := err == nil && portErr == nil && addr.Zone() == "" && addr.Is4() == (family == "TCP4") &&
		port == strconv.FormatUint(n, 10) // no sign, no leading zeros
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), ok
}
