package h2client

import (
	"math"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// Settings describe the connections of one Transport. Of TransportSettings MaxTotal and
// MaxPerHost have no effect; AcquireTimeout bounds the wait for a stream.
type Settings struct {
	http1.TransportSettings
	Limits
}

// Limits are those that only HTTP/2 has. The zero value of a field means its default.
type Limits struct {
	// Cleartext speaks HTTP/2 without TLS, by prior knowledge, to servers with the scheme
	// http, and to no others. Without it only https will do.
	Cleartext bool

	// MaxStreams bounds the requests that share a connection; a server may allow fewer.
	// Default 100.
	MaxStreams int

	// MaxConnections bounds the connections to one host:port. Default 8.
	MaxConnections int

	// StreamWindow is how much of a response body is received ahead of whoever reads it.
	// Default 256 KiB.
	StreamWindow int64

	// ConnectionWindow is the same for all streams of a connection together. Default
	// StreamWindow times MaxStreams, with which no slow reader keeps up another.
	ConnectionWindow int64

	// PingInterval is the silence of a connection after which it is asked whether it is
	// still there. Default 30 s; negative: never.
	PingInterval time.Duration

	// PingTimeout closes a connection on which that question is not answered. Default 15 s.
	PingTimeout time.Duration

	// WriteTimeout closes a connection whose server takes no bytes. Default 30 s.
	WriteTimeout time.Duration
}

// smallestWindow is what every connection begins with (RFC 9113 6.9.2).
const smallestWindow = 65535

func (s Settings) withDefaults() Settings {
	s.TransportSettings = s.WithDefaults()
	positive(&s.MaxStreams, 100)
	positive(&s.MaxConnections, 8)
	positive(&s.StreamWindow, 256<<10)
	positive(&s.ConnectionWindow, s.StreamWindow*int64(s.MaxStreams))
	s.StreamWindow = min(s.StreamWindow, math.MaxInt32)
	s.ConnectionWindow = min(max(s.ConnectionWindow, smallestWindow), math.MaxInt32-smallestWindow)
	if s.PingInterval == 0 {
		s.PingInterval = 30 * time.Second
	}
	s.PingInterval = max(s.PingInterval, 0)
	positive(&s.PingTimeout, 15*time.Second)
	positive(&s.WriteTimeout, 30*time.Second)
	return s
}

func positive[T int | int64 | time.Duration](v *T, fallback T) {
	if *v <= 0 {
		*v = fallback
	}
}
