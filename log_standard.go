package gozer

import (
	"context"
	"log" //nolint:depguard // it is to be led elsewhere
	"log/slog"
	"strings"

	"github.com/gozer-gateway/gozer/internal/netlog"
)

// logStandard lets the log have what is said through package log, until the returned
// function is called: net/http's client has no other way.
func logStandard(logger *slog.Logger) (restore func()) {
	writer, flags := log.Writer(), log.Flags()
	log.SetFlags(0)
	log.SetOutput(slog.NewLogLogger(standardLog{logger.Handler()}, slog.LevelInfo).Writer())
	return func() {
		log.SetOutput(writer)
		log.SetFlags(flags)
	}
}

// standardLog tells the lines of net/http at level debug and without what they quote; others
// are those of filters.
type standardLog struct{ slog.Handler }

func (l standardLog) Handle(ctx context.Context, r slog.Record) error {
	if fromNetHTTP(r.Message) {
		r.Level, r.Message = slog.LevelDebug, netlog.Unquoted(r.Message)
	}
	if !l.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

func fromNetHTTP(line string) bool {
	for _, start := range []string{"Unsolicited response received", "net/http: ", "http: ", "http2: ", "protocol error: "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}
