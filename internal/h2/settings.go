package h2

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/netlog"
)

// Settings are those of a [Server]. Unless a field says otherwise, 0 stands for no limit.
type Settings struct {
	// Refused hears of requests that the handler does not. Nil: nobody does.
	Refused func(http1.Refusal)

	// Count counts what ends before its time. Nil: nobody does. Configure makes no use of it.
	Count *Count

	// Streams is how many requests a connection may have open at a time. A client that opens more
	// has them refused. 0: 100.
	Streams int
	// FrameSize is the longest frame that is accepted, from 16 KiB to just below 16 MiB. 0: 16 KiB.
	FrameSize int
	// StreamWindow and ConnectionWindow are how much of one request body, and of all of a connection, is
	// buffered before the client has to wait: from 64 KiB, below 4 MiB. 0: 256 KiB and 1 MiB.
	StreamWindow, ConnectionWindow int
	// TableSize bounds the header compression table of each direction. 0: 4 KiB.
	TableSize int

	// HeaderBytes, Headers and RequestLine bound the head of a request: the bytes of all of it, the
	// number of fields, and the bytes of method and path. What is beyond is answered with 431 or 414.
	HeaderBytes, Headers, RequestLine int

	// HeaderTimeout bounds the time from a connection's start to the end of its preface.
	HeaderTimeout time.Duration
	// BodyTimeout bounds each wait for more of a request body.
	BodyTimeout time.Duration
	// WriteTimeout bounds each wait for the client to take more of a response, by one stream and by
	// the connection.
	WriteTimeout time.Duration
	// IdleTimeout ends a connection on which there is no request for so long.
	IdleTimeout time.Duration
	// PingInterval is after how much silence a client is asked whether it is there. If it does not
	// answer within PingTimeout, the connection is closed.
	PingInterval, PingTimeout time.Duration

	// MaxRequests and MaxAge end a connection politely: after so many requests, or with the first
	// answer that begins when it is older than that.
	MaxRequests int
	MaxAge      time.Duration

	// Resets is how many streams a client may reset, or force the server to reset, within Interval;
	// Control how many frames that carry nothing of a request (SETTINGS, PING, PRIORITY, empty DATA,
	// unknown ones) beyond those that do; Continuations how many frames may continue a header block.
	// A client that exceeds one of them is sent GOAWAY with ENHANCE_YOUR_CALM, and its requests are
	// cancelled. Interval 0: 30 seconds.
	Resets, Control, Continuations int
	Interval                       time.Duration

	// Handler answers the requests. It gets no CONNECT with a protocol (RFC 8441), which is refused.
	Handler http.Handler
	// Log receives what clients do wrong, at debug level. Nil: nothing is logged.
	Log *slog.Logger
}

func withDefaults(s Settings) Settings {
	for field, value := range map[*int]int{&s.Streams: 100, &s.FrameSize: 16 << 10, &s.StreamWindow: 256 << 10, &s.ConnectionWindow: 1 << 20, &s.TableSize: 4 << 10} {
		if *field == 0 {
			*field = value
		}
	}
	if s.Interval == 0 {
		s.Interval = 30 * time.Second
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Configure makes a server of net/http speak HTTP/2 by the settings, as far as it can: it knows
// nothing of Resets, Control and Continuations. It sets those of s that are missing to their defaults,
// and keeps s.
func (s *Settings) Configure(server *http.Server) {
	*s = withDefaults(*s)
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams:          s.Streams,
		MaxReadFrameSize:              s.FrameSize,
		MaxReceiveBufferPerStream:     s.StreamWindow,
		MaxReceiveBufferPerConnection: s.ConnectionWindow,
		MaxDecoderHeaderTableSize:     s.TableSize,
		MaxEncoderHeaderTableSize:     s.TableSize,
		SendPingTimeout:               s.PingInterval,
		PingTimeout:                   s.PingTimeout,
		WriteByteTimeout:              s.WriteTimeout,
	}
	server.MaxHeaderBytes = s.HeaderBytes
	server.IdleTimeout = s.IdleTimeout
	server.ErrorLog = slog.NewLogLogger(netlog.Handler(s.Log.Handler()), slog.LevelDebug)
	server.Handler = s.handler()
	server.ConnContext = remember
}
