// Package lb spreads the calls to a service over its servers: it keeps statistics of
// every server, chooses one per attempt and repeats what may be repeated.
//
// A Balancer has a slow side, which takes a lock and builds an immutable view when the
// list of servers or their health changes, and a fast one, Choose, which reads that
// view. A Command sends one request through a Balancer.
package lb

import (
	"maps"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
)

// UnknownZone is the zone of a server that names none.
const UnknownZone = "UNKNOWN"

// Server is an instance of a service as the load balancer sees it. The exported fields
// describe it and never change once it is in a Balancer. Copies share liveness and statistics.
type Server struct {
	// ID keys the statistics, which outlive changes of the list. Empty becomes host:port.
	ID string
	// Host is a name or an address; an IPv6 address stands without brackets.
	Host string
	Port int
	// Scheme is "http" or "https" where the source of the server wrote it down, else "".
	Scheme string
	// Secure reports that the source knows that Port speaks TLS.
	Secure bool
	// Plain reports that the source knows that Port does not speak TLS.
	Plain bool
	// Name is the host's name where Host is an address but the name is known too: over TLS
	// the server has to prove it.
	Name     string
	Zone     string
	Metadata map[string]string

	addr  string
	zone  string // Zone in lower case
	state *serverState
}

// serverState is what a balancer knows about a server id, whichever Server values carry it.
type serverState struct {
	stats   ServerStats
	alive   atomic.Bool
	unready atomic.Bool  // is being primed
	since   atomic.Int64 // unix nanoseconds at which a slow start began, 0 for none
	delay   ewma         // PeakEwma's
	outlier outlier
}

// HostPort is the address to connect to, an IPv6 host in brackets.
func (s *Server) HostPort() string {
	if s.addr != "" {
		return s.addr
	}
	return net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
}

// Stats are the live counters of the server's id, nil as long as no Balancer has listed it.
func (s *Server) Stats() *ServerStats {
	if s.state == nil {
		return nil
	}
	return &s.state.stats
}

// Alive reports that the server may be chosen. A server is alive from its first listing
// until Balancer.SetAlive says otherwise.
func (s *Server) Alive() bool { return s.state != nil && s.state.alive.Load() }

// Ready reports that the server is not being primed.
func (s *Server) Ready() bool { return s.state == nil || !s.state.unready.Load() }

// active is the number of requests on their way, without a look at the clock.
func (s *Server) active() int64 { return s.state.stats.active.Load() }

// String is the server's id.
func (s *Server) String() string { return s.id() }

// Same reports that both have one id, which is all that equality of servers means in Ribbon.
func (s *Server) Same(o *Server) bool { return s == o || s.id() == o.id() }

func (s *Server) id() string {
	if s.ID != "" {
		return s.ID
	}
	return s.HostPort()
}

// describedAs reports that s and o agree in every exported field.
func (s *Server) describedAs(o *Server) bool {
	return s.ID == o.ID && s.Host == o.Host && s.Port == o.Port && s.Scheme == o.Scheme &&
		s.Secure == o.Secure && s.Plain == o.Plain && s.Name == o.Name && s.Zone == o.Zone && maps.Equal(s.Metadata, o.Metadata)
}

// hostHeader is the address as a Host field carries it: without an IPv6 zone.
func (s *Server) hostHeader() string {
	if strings.IndexByte(s.Host, '%') < 0 {
		return s.HostPort()
	}
	host, _, _ := strings.Cut(s.Host, "%")
	return net.JoinHostPort(host, strconv.Itoa(s.Port))
}
