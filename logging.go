package gozer

import (
	"io"
	"log/slog"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

func newLogger(w io.Writer, cfg *config.Config) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: logLevel(cfg.LogLevels["root"])}))
}

// logLevel maps Spring's level names, of which Go has fewer.
func logLevel(name string) slog.Level {
	switch name {
	case "TRACE", "DEBUG":
		return slog.LevelDebug
	case "WARN":
		return slog.LevelWarn
	case "ERROR", "FATAL", "OFF":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// logTransition tells about circuits.
func logTransition(l *slog.Logger) func(ribboncmd.Transition) {
	return func(t ribboncmd.Transition) {
		l.Warn("circuit", "service", t.Service, "from", t.From.String(), "to", t.To.String())
	}
}
