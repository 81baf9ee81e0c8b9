package config_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/config"
)

// FuzzParse loads anything. It must not panic, and a configuration without errors must
// be complete: every route leads somewhere and every timeout is positive.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "zuul.prefix=/a", "USERS_RIBBON_READTIMEOUT=5")
	}
	f.Add([]byte("a: &a [*a]"), "", "")
	f.Add([]byte("a: &a {b: *a}\n<<: [*a, *a]"), "[", "_")
	f.Fuzz(func(t *testing.T, data []byte, set, env string) {
		c, report := config.Parse("f", data, config.Options{Set: []string{set}, Env: []string{env}, Profiles: []string{"prod"}})
		if report.String() == "" {
			t.Fatal("empty report")
		}
		for _, filter := range c.FilterSettings() {
			_ = c.DecodeFilter(filter.Name, &settings{}) // only panics count
		}
		if report.Err() != nil {
			return
		}
		for _, r := range c.Zuul.Routes {
			if r.Location == "" || r.ID == "" || r.Path == "" || r.Path[0] != '/' {
				t.Errorf("incomplete route %+v", r)
			}
			if cmd := c.HystrixFor(r.Location); cmd.Timeout <= 0 || cmd.MaxConcurrentRequests < 1 {
				t.Errorf("command without bounds: %+v", cmd)
			}
		}
	})
}

func FuzzPlaceholders(f *testing.F) {
	for _, s := range []string{"${A}", "${A:b}", "${A:${B:${C}}}", `\${`, "${}", "${${A}}", "}${", "${A", "${server.port}"} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		o := config.Options{Set: []string{"spring.application.name=" + text}, Env: []string{"A=" + value}}
		c, report := config.Load("", o)
		again, _ := config.Load("", o)
		if report.Err() == nil && c.Application.Name != again.Application.Name {
			t.Errorf("%q became %q, then %q", text, c.Application.Name, again.Application.Name)
		}
	})
}

// FuzzDuration checks what is accepted against arithmetic on the plain form.
func FuzzDuration(f *testing.F) {
	for _, s := range []string{"5", "500ms", "5s", "PT5S", "P1DT2H3M4.5S", "-1", "9223372036854775807", "PT9223372036.854775808S"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, report := config.Load("", config.Options{Set: []string{"zuul.host.connect-timeout-millis=" + text, "gateway.limits.max-request-body=" + text}})
		if got := c.Zuul.Host.ConnectTimeout; got < 0 {
			t.Errorf("%q = %s", text, got)
		}
		if got := c.Gateway.Limits.MaxRequestBody; got < 0 {
			t.Errorf("%q = %d bytes", text, got)
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err == nil && n >= 0 && report.Err() == nil && c.Zuul.Host.ConnectTimeout != time.Duration(n)*time.Millisecond {
			t.Errorf("%q = %s", text, c.Zuul.Host.ConnectTimeout)
		}
	})
}
