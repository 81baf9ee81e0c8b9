package netlog_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/netlog"
)

func TestUnquoted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "plain": "plain",
		fmt.Sprintf("starting with %q; err=%v", "a\"secret\\", nil): `starting with "…"; err=<nil>`,
		fmt.Sprintf("%q and %q", "", "secret"):                      `"…" and "…"`,
		`cut "secret`:                                               `cut "…"`,
		`cut "secret\`:                                              `cut "…"`,
	} {
		if got := netlog.Unquoted(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestHandler(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	slog.NewLogLogger(netlog.Handler(slog.NewTextHandler(&said, nil)), slog.LevelWarn).Printf("odd %q", "secret")
	if got := said.String(); !strings.Contains(got, "level=WARN") || strings.Contains(got, "secret") {
		t.Errorf("the log says %q", got)
	}
}
