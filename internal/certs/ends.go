package certs

import (
	"log/slog"
	"time"
)

// Ends tells the log of certificates that are about to end, and of those that have ended, of
// each once a day. The zero value is ready; calls must not overlap.
type Ends struct {
	told map[string]time.Time // by issuer and serial number
}

// Tell looks at those that are shown; warning is how long before its end one is warned of.
func (e *Ends) Tell(log *slog.Logger, shown []Info, warning time.Duration) {
	now, told := time.Now(), map[string]time.Time{}
	for _, c := range shown {
		if c.Until.Sub(now) > warning {
			continue
		}
		key, expired := c.Issuer+" "+c.Serial, c.Until.Before(now)
		if expired {
			key += " expired" // which is news
		}
		if last := e.told[key]; now.Sub(last) < 24*time.Hour {
			told[key] = last
			continue
		}
		told[key] = now
		about := []any{"name", c.Name, "file", c.File}
		if c.Listener != "" {
			about = append([]any{"for", c.Listener}, about...)
		}
		if expired {
			log.Error("certificate has expired", append(about, "ended", c.Until)...)
		} else {
			log.Warn("certificate ends soon", append(about, "ends", c.Until)...)
		}
	}
	e.told = told
}
