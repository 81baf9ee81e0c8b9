package gozer_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"

	"github.com/gozer-gateway/gozer"
)

func TestOpenTelemetryComplainsToTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := messages(100)
		defer gozer.LogOpenTelemetry(log)()
		for range 50 {
			otel.Handle(errors.New("no room"))
		}
		<-time.After(time.Minute)
		otel.Handle(errors.New(strings.Repeat("x", 1000)))
		if first := <-lines; !strings.Contains(first, "level=WARN") || !strings.Contains(first, `error="no room" leftOut=0`) {
			t.Error(first)
		}
		if second := <-lines; !strings.Contains(second, "leftOut=49") || len(second) > 500 {
			t.Error(second)
		}
		if len(lines) > 0 {
			t.Errorf("one more: %s", <-lines)
		}
	})
}

func TestOpenTelemetryShowsNoValues(t *testing.T) {
	for name, say := range map[string]func(logr.Logger){
		"error":   func(l logr.Logger) { l.Error(errors.New("missing ="), "parse headers", "input", "hunter2") },
		"warning": func(l logr.Logger) { l.V(1).Info("parse headers, missing =", "input", "hunter2") },
	} {
		t.Run("C225 "+name, func(t *testing.T) {
			log, lines := messages(10)
			l := logr.FromSlogHandler(gozer.OpenTelemetryHandler(log))
			l.V(4).Info("set up", "input", "hunter2")
			say(l)
			if line := <-lines; !strings.Contains(line, "level=WARN") || !strings.Contains(line, "parse headers") || !strings.Contains(line, "missing =") || strings.Contains(line, "hunter2") {
				t.Error(line)
			}
			if len(lines) > 0 {
				t.Errorf("one more: %s", <-lines)
			}
		})
	}
}
