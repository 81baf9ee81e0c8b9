package gozer

import (
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// logAccess gives a snapshot its access log, if it has one.
func (g *Gateway) logAccess(s *snapshot) error {
	a := s.config.Gateway.AccessLog
	if !a.Enabled {
		return nil
	}
	log, err := accesslog.New(accesslog.Settings{
		Format: a.Format, Pattern: a.Pattern,
		RequestHeaders: a.RequestHeaders, ResponseHeaders: a.ResponseHeaders,
		MaskedParameters: a.Masked, MaxField: int(a.MaxField),
		Cause: failure,
		Trace: func(c *filters.Context) (trace, span string) { return c.Trace.IDs() },
	}, g.state.accessLog)
	if err != nil {
		const key = "gateway.access-log.pattern"
		return misfit(key, s.config.Place(key), err)
	}
	s.accessLog = log
	return nil
}

// accessLogDestination is where the lines go. Without an access log nothing is opened.
func accessLogDestination(cfg *config.Config) accesslog.Destination {
	a := cfg.Gateway.AccessLog
	if !a.Enabled {
		return accesslog.Destination{Interval: a.FlushInterval}
	}
	return accesslog.Destination{File: a.File, Buffer: max(int(a.Buffer), leastAccessBuffer), Interval: a.FlushInterval}
}

// openAccessLog makes a file that cannot be opened end the start.
func (g *Gateway) openAccessLog() error {
	if err := g.state.accessLog.Open(); err != nil {
		const key = "gateway.access-log.file"
		return misfit(key, g.config.Place(key), err)
	}
	return nil
}

// checkAccessLog reports a file that the start would fail of. A reload does not: lines are lost
// until it can be opened.
func checkAccessLog(cfg *config.Config, report *config.Report) {
	if err := accesslog.Check(accessLogDestination(cfg)); err != nil {
		const key = "gateway.access-log.file"
		report.AddError(key, cfg.Place(key), err)
	}
}

// leastAccessBuffer has room for some lines of any length.
const leastAccessBuffer = 64 << 10

// failure says why a request has failed, as the error body would.
func failure(c *filters.Context) string {
	if answer := (errorfilter.Mapping{}).Answer(c); answer.Status != 0 {
		return answer.Cause
	}
	return "client gone"
}

// logRefused tells of what never became a request.
func (g *Gateway) logRefused(r http1.Refusal) {
	if log := g.snapshot.Load().accessLog; log != nil {
		log.Refused(accesslog.Refusal{Remote: r.Remote, Status: r.Status, Header: r.Header, BytesOut: int64(len(r.Body)), Reason: r.Reason})
	}
}
