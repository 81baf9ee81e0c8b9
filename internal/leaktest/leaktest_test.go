package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// What ends late is no leak, what does not end is one.
func TestVerify(t *testing.T) {
	before := goleak.IgnoreCurrent()
	end := make(chan struct{})
	go func() { <-end }()
	if code := verify(0, before); code != 1 {
		t.Error("a goroutine that does not end is none")
	}
	time.AfterFunc(time.Second, func() { close(end) })
	if code := verify(time.Minute, before); code != 0 {
		t.Error("a goroutine that ends after a second is one")
	}
}
