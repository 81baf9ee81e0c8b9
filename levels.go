package gozer

import (
	"log/slog"
	"sync"

	"github.com/gozer-gateway/gozer/admin"
)

// levels is what the loggers endpoint shows and sets. There is one logger.
type levels struct {
	level *slog.LevelVar // nil: somebody else's logger, which keeps its level

	mu         sync.Mutex
	configured string
	chosen     string // by an operator; "" for none
}

var _ admin.Loggers = (*levels)(nil)

// configure follows the configuration, unless an operator has chosen a level.
func (l *levels) configure(level string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.configured = level
	l.apply()
}

// Level is the one in force.
func (l *levels) Level() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.chosen != "" {
		return l.chosen
	}
	return l.configured
}

// SetLevel chooses a level until the process ends or another one is chosen, over reloads
// too; "" goes back to the configuration's. It returns false if the level cannot be set.
func (l *levels) SetLevel(level string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.level == nil {
		return false
	}
	l.chosen = level
	l.apply()
	return true
}

func (l *levels) apply() {
	switch {
	case l.level == nil:
	case l.chosen != "":
		l.level.Set(levelOf(l.chosen))
	default:
		l.level.Set(levelOf(l.configured))
	}
}
