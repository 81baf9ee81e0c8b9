// Package machine knows under which name and address others reach this machine.
package machine

import (
	"net"
	"os"
)

// Hostname is the machine's name, or its address when it has none.
func Hostname() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return Address()
}

// Address is the first IPv4 address of this machine that others could reach, the
// loopback address if there is none.
func Address() string {
	all, _ := net.InterfaceAddrs() // none then
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}
