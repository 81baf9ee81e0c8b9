package proxyproto

import (
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// Settings say who is believed.
type Settings struct {
	// Trusted are the networks of the balancers: each of their connections must
	// begin with a head. Nobody else's head is read.
	Trusted []netip.Prefix

	// ServeOthers lets others connect without a head; otherwise their
	// connections are closed.
	ServeOthers bool

	// HeaderTimeout is the time for a head to arrive; it must be positive.
	HeaderTimeout time.Duration

	// Counts is counted up; nil counts nothing.
	Counts *Counts

	// Log receives at debug level what connections have been closed for; nil
	// for nothing.
	Log *slog.Logger
}

// Counts tell what has become of the connections. Any goroutine may use them.
type Counts struct {
	Accepted  atomic.Int64 // with a proper head
	Refused   atomic.Int64 // of peers that are not trusted
	Malformed atomic.Int64 // without a proper head, or closed in the middle of it
	Late      atomic.Int64 // whose head has not come in time
}

// Listen returns a listener whose connections have the addresses of the clients
// that balancers tell of. Accept does not wait for heads: a *Conn reads its own
// when it is used first.
func Listen(l net.Listener, s Settings) net.Listener {
	if s.Counts == nil {
		s.Counts = &Counts{}
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &listener{l, s}
}

type listener struct {
	net.Listener
	settings Settings
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		switch {
		case err != nil:
			return nil, err
		case l.settings.trusts(conn.RemoteAddr()):
			return newConn(conn, &l.settings), nil
		case l.settings.ServeOthers:
			return conn, nil
		}
		l.settings.Counts.Refused.Add(1)
		l.settings.Log.Debug("connection of a peer that is not trusted for the PROXY protocol", "peer", conn.RemoteAddr().String())
		_ = conn.Close() // nothing was written to it
	}
}

func (s *Settings) trusts(peer net.Addr) bool {
	a, ok := peer.(*net.TCPAddr)
	if !ok {
		return false
	}
	addr := a.AddrPort().Addr().Unmap().WithZone("")
	return slices.ContainsFunc(s.Trusted, func(p netip.Prefix) bool { return p.Contains(addr) })
}
