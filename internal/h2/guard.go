package h2

import (
	"sync"
	"time"
)

// guard counts what a client makes a server do without asking for anything.
type guard struct {
	resetLimit, controlLimit, continuationLimit int
	interval                                    time.Duration

	mu            sync.Mutex // the two directions have goroutines of their own
	since         time.Time  // the start of the interval
	resets        int
	control       int
	continuations int   // of the header block that is coming
	flood         flood // of what there was too much
}

// flood is what there may be too much of.
type flood uint8

const (
	noFlood flood = iota
	tooManyResets
	tooManyControlFrames
	tooManyContinuations
	numFloods
)

func (f flood) String() string {
	return [numFloods]string{"none", "resets", "control_frames", "continuations"}[f]
}

// The codes of resets that a client has provoked (RFC 9113 7), and that of GOAWAY in peace.
const (
	codeNone        = 0x0
	codeProtocol    = 0x1
	codeFlowControl = 0x3
	codeClosed      = 0x5
)

// received counts a frame of the client.
func (g *guard) received(f frame) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.kind != frameContinuation {
		g.continuations = 0
	}
	switch f.kind {
	case frameHeaders:
		g.paid()
	case frameContinuation:
		g.continuations++
		g.exceeds(g.continuations, g.continuationLimit, tooManyContinuations)
	case frameReset:
		g.reset()
	case frameWindowUpdate, frameGoAway:
	case frameData:
		if f.length > 0 {
			g.paid()
			break
		}
		g.idle()
	default:
		g.idle()
	}
}

// sent counts a frame of the server.
func (g *guard) sent(f frame) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case f.kind == frameReset && (f.code == codeProtocol || f.code == codeFlowControl || f.code == codeClosed):
		g.reset()
	case f.kind == frameHeaders, f.kind == frameData:
		g.paid()
	}
}

// paid lets one more frame without content pass.
func (g *guard) paid() { g.control = max(0, g.control-1) }

func (g *guard) idle() {
	g.turn()
	g.control++
	g.exceeds(g.control, g.controlLimit, tooManyControlFrames)
}

func (g *guard) reset() {
	g.turn()
	g.resets++
	g.exceeds(g.resets, g.resetLimit, tooManyResets)
}

func (g *guard) turn() {
	if now := time.Now(); now.Sub(g.since) > g.interval {
		g.since, g.resets, g.control = now, 0, 0
	}
}

func (g *guard) exceeds(n, limit int, what flood) {
	if limit > 0 && n > limit && g.flood == noFlood {
		g.flood = what
	}
}

// verdict tells of what there was too much; nothing as long as all is well.
func (g *guard) verdict() flood {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.flood
}
