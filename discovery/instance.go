// Package discovery knows which instances of which services exist. Sources report
// what they know, the Hub merges the reports into one immutable snapshot that any
// number of goroutines read without a lock.
package discovery

import (
	"maps"
	"slices"
)

// Instance is one registered process of a service. It is a value; its Metadata must
// not be changed once it has been handed to a Hub.
type Instance struct {
	// ID identifies the instance within its service. Empty means host:port.
	ID string
	// Service is the id under which routes refer to the instance's service.
	Service string
	// Host is a name or an address; an IPv6 address stands without brackets.
	Host string
	Port int
	// Scheme is "http" or "https" when the source says so outright, else "".
	Scheme string
	// Secure reports that Port speaks TLS. A client's IsSecure setting outranks it,
	// Scheme outranks both unless IsSecure is true.
	Secure bool
	// PlainPort is a port without TLS beside a Secure one, for clients that want none; 0
	// without one.
	PlainPort int
	// IP is the address of Host as the source has it, "" if it says nothing.
	IP string
	// HostName is the name of Host where that is an address; who lists instances by address
	// sets it.
	HostName string
	// Plain reports that Port is known not to speak TLS, whatever its number.
	Plain    bool
	Zone     string
	Metadata map[string]string
	// Aliases are further names, in lower case, under which the instance is found but
	// which make no service of their own. The slice is read-only, like Metadata.
	Aliases []string
}

// Equal reports whether two instances say the same.
func (i Instance) Equal(o Instance) bool {
	return i.ID == o.ID && i.Service == o.Service && i.Host == o.Host && i.Port == o.Port &&
		i.Scheme == o.Scheme && i.Secure == o.Secure && i.PlainPort == o.PlainPort && i.IP == o.IP && i.HostName == o.HostName && i.Plain == o.Plain &&
		i.Zone == o.Zone && maps.Equal(i.Metadata, o.Metadata) && slices.Equal(i.Aliases, o.Aliases)
}
