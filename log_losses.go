package gozer

import (
	"io"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/telemetry"
)

// lossy counts what a writer does not take. Each write is a line of the log.
type lossy struct {
	io.Writer
	lost atomic.Int64
}

func (l *lossy) Write(line []byte) (int, error) {
	n, err := l.Writer.Write(line)
	if err != nil {
		l.lost.Add(1)
	}
	return n, err
}

// withLossy tells of the writer that the log goes to.
func withLossy(l *lossy) Option {
	return func(o *options) { o.lossy = l }
}

func (g *Gateway) logging(e *telemetry.Emitter) {
	e.Counter("gozer_log_lost_total", "Lines of the log that could not be written.", float64(g.options.lossy.lost.Load()))
}
