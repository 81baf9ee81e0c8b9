package gozer

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
)

// logOpenTelemetry makes the complaints of OpenTelemetry's packages lines of a log. They go
// to standard error otherwise, each of them. It changes the process, and so belongs to
// programs that are a gateway and nothing else. After the end they go nowhere.
func logOpenTelemetry(log *slog.Logger) (end func()) {
	c := &complaints{log: log}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { c.tell("", err.Error()) }))
	otel.SetLogger(logr.FromSlogHandler(c))
	return func() {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
		otel.SetLogger(logr.Discard())
	}
}

// complaints tells one a minute, with the number of those that were left out since the one
// before. Of what OpenTelemetry tells beside them it shows no values: header fields may be
// among them.
type complaints struct {
	log *slog.Logger

	mu      sync.Mutex
	told    time.Time // guarded by mu
	leftOut int       // guarded by mu
}

var _ slog.Handler = (*complaints)(nil)

// otelWarning is the level that warnings of OpenTelemetry have here; what is below tells
// how it is set up.
const otelWarning = slog.Level(-1)

func (c *complaints) Enabled(_ context.Context, level slog.Level) bool { return level >= otelWarning }

func (c *complaints) Handle(_ context.Context, r slog.Record) error { //nolint:gocritic // the interface wants a value
	reason := ""
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" {
			reason = a.Value.String()
		}
		return true
	})
	c.tell(r.Message, reason)
	return nil
}

func (c *complaints) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c *complaints) WithGroup(string) slog.Handler      { return c }

// complaintsApart is the least time between two of them.
const complaintsApart = time.Minute

func (c *complaints) tell(about, reason string) {
	c.mu.Lock()
	now := time.Now()
	if !c.told.IsZero() && now.Sub(c.told) < complaintsApart {
		c.leftOut++
		c.mu.Unlock()
		return
	}
	leftOut := c.leftOut
	c.told, c.leftOut = now, 0
	c.mu.Unlock()
	c.log.Warn("OpenTelemetry complains", "about", cut(about), "error", cut(reason), "leftOut", leftOut)
}

// longestComplaint is how many bytes of one are shown.
const longestComplaint = 300

func cut(s string) string {
	if len(s) <= longestComplaint {
		return s
	}
	return strings.ToValidUTF8(s[:longestComplaint], "")
}
