package gozer

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

const (
	// failurePause is how long the same failure of the same server is not logged again.
	failurePause = time.Minute
	// maxFailures bounds what is remembered for that.
	maxFailures = 1024
)

// failureLog tells of handshakes that fail. A request that another server answers says
// nothing of them, and one that fails says it for the last server only.
type failureLog struct {
	mu   sync.Mutex
	last map[failureKey]time.Time
}

type failureKey struct {
	pool, address string
	cause         tlsout.Cause
}

func (l *failureLog) failed(logger *slog.Logger, pool string, e *tlsout.Error) {
	if l.isNews(failureKey{pool, e.Address, e.Cause}, time.Now()) {
		logger.Warn("no TLS session with an upstream", "for", pool, "address", e.Address, "cause", e.Cause.String(), "error", e)
	}
}

func (l *failureLog) isNews(k failureKey, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, known := l.last[k]; known && now.Sub(at) < failurePause {
		return false
	}
	if l.last == nil || len(l.last) >= maxFailures {
		l.last = map[failureKey]time.Time{}
	}
	l.last[k] = now
	return true
}

// routePool marks the keys of the pools of single URL routes. No service id begins so.
const routePool = "\x00"

// poolName says in words whose connections the pool of a key has.
func poolName(key string) string {
	if route, ok := strings.CutPrefix(key, routePool); ok {
		return "URL route " + route
	}
	if key == urlRoutes {
		return "URL routes"
	}
	return "service " + key
}
