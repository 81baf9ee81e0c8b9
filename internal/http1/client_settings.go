package http1

import (
	"time"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// TransportSettings describe the connections of one Transport. The zero value
// of a field means the default given with it.
type TransportSettings struct {
	// ConnectTimeout bounds the dial and, on its own, the TLS handshake.
	// Default 1 s.
	ConnectTimeout time.Duration

	// ReadTimeout bounds the wait for the response head once the request is
	// sent, then each wait for more of the body, and each wait for the server
	// to take more of the request. Default 1 s. An event stream may pause for
	// as long as it likes.
	ReadTimeout time.Duration

	// AcquireTimeout bounds the wait for a free connection when a limit is
	// reached. Default ConnectTimeout.
	AcquireTimeout time.Duration

	// MaxTotal and MaxPerHost bound the connections in use, over all hosts and
	// per host:port, and as many again that idle. Defaults 200 and 50.
	MaxTotal, MaxPerHost int

	// IdleTimeout closes a connection that was not used for so long. Default
	// 30 s. It should be shorter than what the servers grant.
	IdleTimeout time.Duration

	// MaxLifetime is the age from which a connection is not used again.
	// Default 0: none.
	MaxLifetime time.Duration

	// MaxHeaderBytes bounds the response head. Default 256 KiB.
	MaxHeaderBytes int64

	// TLS makes the sessions with https upstreams; nil trusts the system's authorities.
	TLS *tlsout.Client
}

// WithDefaults fills in the defaults.
func (s TransportSettings) WithDefaults() TransportSettings {
	positive(&s.ConnectTimeout, time.Second)
	positive(&s.ReadTimeout, time.Second)
	positive(&s.AcquireTimeout, s.ConnectTimeout)
	positive(&s.MaxTotal, 200)
	positive(&s.MaxPerHost, 50)
	positive(&s.IdleTimeout, 30*time.Second)
	positive(&s.MaxHeaderBytes, 256<<10)
	return s
}

func positive[T int | int64 | time.Duration](v *T, fallback T) {
	if *v <= 0 {
		*v = fallback
	}
}
