package config_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
)

// set loads one setting from the command line; err is the report's line about it.
func set(t *testing.T, key, value string, env ...string) (c *config.Config, err string) {
	t.Helper()
	c, report := config.Load("", config.Options{Set: []string{key + "=" + value}, Env: env})
	if report.Err() == nil {
		return c, ""
	}
	return c, report.Findings()[0].Message
}

func TestDuration(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"5": 5 * time.Millisecond, "0": 0, "+7": 7 * time.Millisecond, " 5 ": 5 * time.Millisecond,
		"5ns": 5, "5us": 5 * time.Microsecond, "5ms": 5 * time.Millisecond, "5s": 5 * time.Second, "5S": 5 * time.Second,
		"2m": 2 * time.Minute, "1h": time.Hour, "1d": 24 * time.Hour, "5 s": 5 * time.Second,
		"PT5S": 5 * time.Second, "pt1m2.5s": 62500 * time.Millisecond, "P1DT1H": 25 * time.Hour, "PT0.001S": time.Millisecond,
	} {
		c, err := set(t, "zuul.host.connect-timeout-millis", value)
		if got := c.Zuul.Host.ConnectTimeout; err != "" || got != want {
			t.Errorf("%q = %s (%s), want %s", value, got, err, want)
		}
	}
	for _, value := range []string{"", "five", "5x", "1.5s", "1m30s", "P", "PT", "P1D T", "P1DT", "PT5", "-1", "-PT1S", "99999999999999999999", "9223372036854775807", "300000d", "PT99999999999999999999S", "0x10"} {
		if c, err := set(t, "zuul.host.connect-timeout-millis", value); err == "" {
			t.Errorf("%q is accepted as %s", value, c.Zuul.Host.ConnectTimeout)
		}
	}
	t.Run("plain numbers are in the unit of the key", func(t *testing.T) {
		if c, err := set(t, "niws.loadbalancer.default.circuitTripMaxTimeoutSeconds", "5"); c.Ribbon.Trip.Max != 5*time.Second {
			t.Errorf("%s (%s)", c.Ribbon.Trip.Max, err)
		}
	})
}

func TestSize(t *testing.T) {
	for value, want := range map[string]int64{"0": 0, "7": 7, "7B": 7, "8KB": 8 << 10, "8kb": 8 << 10, "1 MB": 1 << 20, "3GB": 3 << 30, "1TB": 1 << 40} {
		c, err := set(t, "gateway.limits.max-request-body", value)
		if got := c.Gateway.Limits.MaxRequestBody; err != "" || got != want {
			t.Errorf("%q = %d (%s), want %d", value, got, err, want)
		}
	}
	for _, value := range []string{"", "-1", "1.5MB", "8K", "8KiB", "9999999TB", "99999999999999999999"} {
		if _, err := set(t, "gateway.limits.max-request-body", value); err == "" {
			t.Errorf("%q is accepted", value)
		}
	}
}

func TestLongValues(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	for value, want := range map[string]string{
		long:                       "the value is too long (at most 1MB)",
		"${A}${A}${A}":             "placeholders make the value too long (at most 1MB)",
		strings.Repeat("x", 1<<20): "",
	} {
		if _, err := set(t, "info.text", value, "A="+strings.Repeat("a", 500<<10)); err != want {
			t.Errorf("%d bytes: %q, want %q", len(value), err, want)
		}
	}
}

func TestTimeoutsDoNotOverflow(t *testing.T) {
	for _, value := range []string{"100000d", "106751d"} {
		c, report := config.Load("", config.Options{Set: []string{"ribbon.ReadTimeout=" + value, "ribbon.ConnectTimeout=" + value, "ribbon.MaxAutoRetries=1000", "ribbon.MaxAutoRetriesNextServer=1000"}})
		if budget, _ := c.TimeoutFor("users"); report.Err() != nil || budget != math.MaxInt64 {
			t.Errorf("%s: %v, %s", value, report.Err(), budget)
		}
	}
}

func TestPlace(t *testing.T) {
	c, _ := parse(t, "zuul:\n  ignoredPatterns: /a\n")
	if got := c.Place("zuul.ignored-patterns"); got.Line != 2 {
		t.Errorf("place %q", got)
	}
	if got := c.Place("server.address"); got != (config.Position{}) {
		t.Errorf("place of a default %q", got)
	}
}

// TestSpellings is case C205: the documented spellings mean the same, others are errors.
func TestSpellings(t *testing.T) {
	for _, key := range []string{"users.ribbon.ReadTimeout", "users.ribbon.readTimeout", "users.ribbon.read-timeout", "users.ribbon.read_timeout", "users.ribbon.READ_TIMEOUT", "users.RIBBON.readtimeout"} {
		for _, line := range []string{key + ": 1234", key + ": \"1234\"", key + ": 1234ms"} {
			if c, _ := parse(t, line); c.RibbonFor("users").ReadTimeout != 1234*time.Millisecond {
				t.Errorf("C205 %s gives %s", line, c.RibbonFor("users").ReadTimeout)
			}
		}
	}
	for value, want := range map[string]bool{"true": true, "yes": true, "on": true, "TRUE": true, `"true"`: true, "false": false, "no": false, "Off": false} {
		if c, _ := parse(t, "zuul.strip-prefix: "+value); c.Zuul.StripPrefix != want {
			t.Errorf("C205 %s gives %v", value, !want)
		}
	}
	for _, value := range []string{"1", "y", "", "tru", "null", "[true]"} {
		_, report := config.Parse("f", []byte("zuul.strip-prefix: "+value), config.Options{})
		if report.Err() == nil {
			t.Errorf("C205 %q is accepted as a boolean", value)
		}
	}
}

func TestEnvironment(t *testing.T) {
	yaml := []byte(`
users.ribbon.listOfServers: localhost:1
zuul.routes: {MyRoute: {path: /m/**, service-id: Order-Service}}
gateway.filters.Stamp.value: file
`)
	c, report := config.Parse("f", yaml, config.Options{Env: []string{
		"ZUUL_STRIPPREFIX=false", "ZUUL_ADD_HOST_HEADER=true", "SERVER_PORT=1234",
		"USERS_RIBBON_LISTOFSERVERS=a:1,b:2", "ORDER_SERVICE_RIBBON_READ_TIMEOUT=5s", "NEW_ONE_RIBBON_READTIMEOUT=6s",
		"ZUUL_ROUTES_MYROUTE_STRIPPREFIX=false", "ZUUL_ROUTES_LATE=/late/**=http://late",
		"HYSTRIX_COMMAND_DEFAULT_EXECUTION_ISOLATION_THREAD_TIMEOUTINMILLISECONDS=9000",
		"LOGGING_LEVEL_ROOT=debug", "ZUUL_SENDERRORFILTER_ERROR_DISABLE=true", "GATEWAY_FILTERS_STAMP_VALUE=environment",
		"PATH=/bin", "SPRING_DATASOURCE_URL=x", "GATEWAY_PORT_8080_TCP=tcp://10.0.0.1", "=", "HOME",
	}})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var stamp struct{ Value string }
	if err := c.DecodeFilter("Stamp", &stamp); err != nil {
		t.Fatal(err)
	}
	got := []any{
		c.Zuul.StripPrefix, c.Zuul.AddHostHeader, c.Server.Port, len(c.RibbonFor("users").Servers),
		c.RibbonFor("Order-Service").ReadTimeout, c.RibbonFor("new-one").ReadTimeout,
		c.Zuul.Routes[0].Key, c.Zuul.Routes[0].StripPrefix, c.Zuul.Routes[1].Location,
		c.HystrixFor("x").Timeout, c.LogLevels["root"], c.FilterDisabled("SendErrorFilter", "error"), stamp.Value,
	}
	want := []any{
		false, true, 1234, 2, 5 * time.Second, 6 * time.Second, "MyRoute", false, "http://late",
		9 * time.Second, "DEBUG", true, "environment",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, f := range report.Findings() {
		if strings.HasPrefix(f.Position.File, "environment") && !strings.Contains(f.Message, "timeout") {
			t.Errorf("reported: %s", f)
		}
	}
}

// Kubernetes gives a container seven variables for each service of its namespace.
func TestManyVariablesAreCheap(t *testing.T) {
	load := func(env []string) float64 {
		return testing.AllocsPerRun(2, func() { config.Parse("f", nil, config.Options{Env: env}) })
	}
	var env []string
	for i := range 1000 {
		env = append(env, fmt.Sprintf("BILLING_%d_PORT_8080_TCP_ADDR=10.0.0.1", i))
	}
	if each := (load(env) - load(nil)) / float64(len(env)); each > 12 {
		t.Errorf("%.1f allocations for a variable that means nothing to us", each)
	}
}

func TestPlaceholders(t *testing.T) {
	env := []string{"A=a", "EMPTY=", "OUTER_NAME=A", "USERS_HOST=h", "REF=${A}"}
	for value, want := range map[string]string{
		"${A}": "a", "x${A}y${A}z": "xayaz", "${B:b}": "b", "${B:}": "", "${EMPTY:b}": "",
		"${B:${A}}": "a", "${B:${C:${D:deep}}}": "deep", "${${OUTER_NAME}}": "a", "${B:http://h:80/}": "http://h:80/",
		"${server.port}": "8080", "${server.PORT}": "8080", "${users.host}": "h", "${users-host}": "h",
		"${zuul.debug.request}": "false", `\${A}`: "${A}", "$A": "$A", "{A}": "{A}", "${B:{}": "{", "${REF}": "${A}",
	} {
		c, err := set(t, "spring.application.name", value, env...)
		if got := c.Application.Name; err != "" || got != want {
			t.Errorf("%s = %q (%s), want %q", value, got, err, want)
		}
	}
	for value, want := range map[string]string{
		"${B}": "cannot resolve ${B}", "${": "not closed", "${B:${A}": "not closed", "${}": "cannot resolve",
		"${spring.application.name}": "in a circle", "${B:${C}}": "cannot resolve ${C}",
		strings.Repeat("${B:", 100) + strings.Repeat("}", 100): "nested too deeply",
	} {
		if _, err := set(t, "spring.application.name", value, env...); !strings.Contains(err, want) {
			t.Errorf("%.40s: %q does not say %q", value, err, want)
		}
	}
	t.Run("expansion is bounded", func(t *testing.T) {
		lines := []string{"v0: " + strings.Repeat("x", 1000)}
		for i := range 40 {
			v := string(rune('a'+i/26)) + string(rune('a'+i%26))
			last := "v0"
			if i > 0 {
				last = string(rune('a'+(i-1)/26)) + string(rune('a'+(i-1)%26))
			}
			lines = append(lines, v+": ${"+last+"}${"+last+"}")
		}
		lines = append(lines, "zuul.prefix: /${bn}")
		_, report := config.Parse("f", []byte(strings.Join(lines, "\n")), config.Options{})
		if !strings.Contains(report.String(), "placeholders make the value too long") {
			t.Error(report)
		}
	})
}

// TestSecrets is case C225.
func TestSecrets(t *testing.T) {
	yaml := []byte(`
server.port: http://admin:hunter2@host
gateway.filters.Auth: {password: {hunter2: 1}, apiKey: [hunter2], token: "hunter2", deep: {client-secret: hunter2}, port: "${PASS}"}
users.ribbon.listOfServers: "x:hunter2@y, https://a:hunter2@b"
zuul.prefix: "${a.password} ${PASS}/*"
a.password: hunter2
zuul.routes.u.url: "https://h/?access_token=hunter2"
hunter2: [
`)
	for _, text := range [][]byte{yaml, yaml[:len(yaml)-len("hunter2: [\n")]} {
		c, report := config.Parse("f", text, config.Options{Env: []string{"PASS=hunter2"}, Set: []string{"password=hunter2", "server.password=hunter2", "hunter2:hunter2@"}})
		var auth struct {
			Password, APIKey, Token, Port int
			Deep                          struct{ ClientSecret int }
		}
		if err := c.DecodeFilter("Auth", &auth); err != nil {
			report.AddError("", config.Position{}, err)
		}
		if strings.Contains(report.String(), "hunter2") {
			t.Errorf("C225 a secret is shown:\n%s", report)
		}
	}
}
