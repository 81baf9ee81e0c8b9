package h2

import (
	"testing"
	"testing/synctest"
	"time"
)

var (
	aReset    = frame{kind: frameReset, length: 4, stream: 1}
	aPing     = frame{kind: framePing, length: 8}
	aRequest  = frame{kind: frameHeaders, length: 20, stream: 3}
	aPiece    = frame{kind: frameData, length: 20, stream: 1}
	aNothing  = frame{kind: frameData, stream: 1}
	aContinue = frame{kind: frameContinuation, stream: 3}
)

// allowed counts how many of such frames pass.
func allowed(g *guard, cycle ...frame) int {
	for n := range 1000 {
		for _, f := range cycle {
			if g.received(f); g.verdict() != noFlood {
				return n
			}
		}
	}
	return -1
}

func TestGuard(t *testing.T) {
	for name, tt := range map[string]struct {
		cycle []frame
		want  int // -1: any number
	}{
		"C233 H17 resets":                 {[]frame{aReset}, 10},
		"C233 H17 rapid reset":            {[]frame{aRequest, aReset}, 10},
		"C233 H17 pings":                  {[]frame{aPing}, 20},
		"C233 H17 settings":               {[]frame{{kind: frameSettings}}, 20},
		"H17 priorities":                  {[]frame{{kind: framePriority, length: 5, stream: 1}}, 20},
		"H17 empty data":                  {[]frame{aNothing}, 20},
		"H17 unknown frames":              {[]frame{{kind: 0x77, length: 9}}, 20},
		"C233 H17 continuations":          {[]frame{aContinue}, 5},
		"requests":                        {[]frame{aRequest}, -1},
		"a ping for every request":        {[]frame{aRequest, aPing}, -1},
		"a ping for every piece":          {[]frame{aPiece, aPing}, -1},
		"two for every request":           {[]frame{aRequest, aPing, aPing}, 19},
		"windows":                         {[]frame{{kind: frameWindowUpdate, length: 4}}, -1},
		"continuations of several blocks": {[]frame{aRequest, aContinue, aContinue, aContinue, aContinue, aContinue}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := &guard{resetLimit: 10, controlLimit: 20, continuationLimit: 5, interval: time.Minute}
			if got := allowed(g, tt.cycle...); got != tt.want {
				t.Errorf("%d pass, want %d", got, tt.want)
			}
			if off := (&guard{interval: time.Minute}); allowed(off, tt.cycle...) != -1 {
				t.Error("a limit of 0 is one")
			}
		})
	}
}

func TestGuardCountsWhatTheClientProvokes(t *testing.T) {
	g := &guard{resetLimit: 3, interval: time.Minute}
	for range 100 {
		g.sent(frame{kind: frameReset, code: 0x2}) // the upstream's fault
		g.sent(frame{kind: frameReset, code: 0x0}) // the end of a body that is not needed
	}
	if g.verdict() != noFlood {
		t.Error("the server's own resets count")
	}
	for range 4 {
		g.sent(frame{kind: frameReset, code: codeClosed})
	}
	if flood := g.verdict(); flood != tooManyResets {
		t.Errorf("after resets that the client has provoked: %v", flood)
	}
}

func TestGuardForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard{resetLimit: 10, controlLimit: 10, interval: time.Minute}
		for range 50 {
			for range 10 {
				g.received(aReset)
				if g.received(aPing); g.verdict() != noFlood {
					t.Fatal("10 in a minute are too many")
				}
			}
			<-time.After(61 * time.Second)
		}
	})
}

func TestWaitExpiresOnlyWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w wait
		expired := 0
		begin := func() { w.begin(time.Second, func() { expired++ }) }
		for range 5 {
			begin()
			<-time.After(900 * time.Millisecond)
			w.done()
			<-time.After(time.Hour)
		}
		if expired != 0 {
			t.Fatal("expired after it was over")
		}
		begin()
		<-time.After(2 * time.Second)
		if w.end(); expired != 1 {
			t.Errorf("expired %d times", expired)
		}
		begin()
		<-time.After(2 * time.Second)
		if expired != 1 {
			t.Error("expired behind the end")
		}
	})
}
