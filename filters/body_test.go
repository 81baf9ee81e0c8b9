package filters_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
)

// watchedError calls a function when it is looked at.
type watchedError struct{ look func() }

func (*watchedError) Error() string { return "broken" }

func (e *watchedError) Is(error) bool { e.look(); return false }

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// A call that has run out of time is the client's failure if the body is still awaited or has
// failed; there is no moment at which it is neither.
func TestBodyIsAwaitedUntilItHasFailed(t *testing.T) {
	var c *filters.Context
	looks := 0
	err := &watchedError{func() {
		looks++
		if !c.AwaitsBody() && c.BodyError() == nil {
			t.Error("neither awaited nor failed")
		}
	}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", broken{err})
	c = filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/", Clean: "/"}, time.Now())
	if _, got := io.ReadAll(c.Out.Body); got != error(err) { //nolint:errorlint // as it is
		t.Errorf("read ended with %v", got)
	}
	if looks == 0 || c.AwaitsBody() || !errors.As(c.BodyError(), &err) {
		t.Errorf("after %d looks: awaited %t, %v", looks, c.AwaitsBody(), c.BodyError())
	}
}
