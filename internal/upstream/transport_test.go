package upstream_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/upstream"
)

func TestTransport(t *testing.T) {
	backendtest.TransportSuite{
		New: func(s backendtest.TransportSettings) backendtest.Transport {
			return upstream.New(upstream.Settings{
				ReadTimeout:    s.ReadTimeout,
				AcquireTimeout: s.AcquireTimeout,
				MaxTotal:       s.MaxTotal,
				MaxPerHost:     s.MaxPerHost,
				MaxHeaderBytes: s.MaxHeaderBytes,
				SkipVerify:     s.SkipVerify,
			})
		},
		ErrReadTimeout:   upstream.ErrReadTimeout,
		ErrPoolExhausted: upstream.ErrPoolExhausted,
	}.Run(t)
}
