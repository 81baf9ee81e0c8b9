package rescue_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/rescue"
)

func TestDo(t *testing.T) {
	if err := rescue.Do(func() error { return io.EOF }); err != io.EOF { //nolint:errorlint // the very error
		t.Errorf("error is %v", err)
	}
	err := rescue.Do(func() error { panic("boom") })
	p, ok := errors.AsType[*rescue.PanicError](err)
	if !ok || err.Error() != "panic: boom" || !strings.Contains(string(p.Stack), "TestDo") {
		t.Errorf("error is %v, %v", err, p)
	}
	if err := rescue.Do(func() error { panic(io.EOF) }); !errors.Is(err, io.EOF) {
		t.Errorf("error is %v", err)
	}
}
