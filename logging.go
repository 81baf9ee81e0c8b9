package gozer

import (
	"io"
	"log/slog"
	"math"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

func newLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// logLevel maps Spring's level names, of which Go has fewer.
func logLevel(cfg *config.Config) slog.Level { return levelOf(cfg.LogLevels["root"]) }

func levelOf(name string) slog.Level {
	switch name {
	case "TRACE", "DEBUG":
		return slog.LevelDebug
	case "WARN":
		return slog.LevelWarn
	case "ERROR", "FATAL":
		return slog.LevelError
	case "OFF":
		return math.MaxInt
	}
	return slog.LevelInfo
}

// logTransition tells about circuits.
func logTransition(l *slog.Logger) func(ribboncmd.Transition) {
	return func(t ribboncmd.Transition) {
		l.Warn("circuit", "service", t.Service, "from", t.From.String(), "to", t.To.String())
	}
}
