package http1_test

import (
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
)

func TestTransport(t *testing.T) {
	backendtest.TransportSuite{
		New: func(s backendtest.TransportSettings) backendtest.Transport {
			return http1.NewTransport(http1.TransportSettings{
				ConnectTimeout: time.Minute,
				ReadTimeout:    s.ReadTimeout,
				AcquireTimeout: s.AcquireTimeout,
				MaxTotal:       s.MaxTotal,
				MaxPerHost:     s.MaxPerHost,
				MaxHeaderBytes: s.MaxHeaderBytes,
				TLS:            s.TLS,
			})
		},
		ErrReadTimeout:   http1.ErrReadTimeout,
		ErrPoolExhausted: http1.ErrPoolExhausted,
	}.Run(t)
}
