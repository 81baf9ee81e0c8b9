package accesslog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// Lines share the text of a second, but only of their own.
func TestTimes(t *testing.T) {
	const iso, common = "2006-01-02T15:04:05.000Z07:00", "[02/Jan/2006:15:04:05 -0700]"
	berlin := time.FixedZone("", 3600)
	start := time.Date(2026, 12, 31, 23, 59, 59, 7e6, time.UTC)
	starts := []time.Time{
		start, start.Add(990 * time.Millisecond), start.Add(time.Second), start,
		start.In(berlin), start.Add(-time.Hour).In(berlin),
		{},
		start,
	}
	for _, form := range []struct {
		accesslog.Settings
		want func(time.Time) string
	}{
		{accesslog.Settings{Format: accesslog.JSON}, func(at time.Time) string { return `{"time":"` + at.UTC().Format(iso) + `"` }},
		{accesslog.Settings{Format: accesslog.Common}, func(at time.Time) string { return `192.0.2.9 - - ` + at.Format(common) + ` "` }},
	} {
		lines := written(t, form.Settings, func(l *accesslog.Log) {
			for _, at := range starts {
				c := filtertest.New(t, "GET /x", filtertest.RemoteAddr("192.0.2.9:1"))
				c.Start = at
				l.End(c)
			}
		})
		for i, at := range starts {
			if !strings.HasPrefix(lines[i], form.want(at)) {
				t.Errorf("%v: %s", at, lines[i])
			}
		}
	}
}
