package config_test

import (
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/config"
)

func TestApplicationJSON(t *testing.T) {
	const file = "server.port: 1\nserver.address: 127.0.0.1\nzuul.prefix: /file\nzuul.routes.a: /a/**=http://a\n---\nspring.config.activate.on-profile: prod\nzuul.strip-prefix: false\n"
	env := []string{
		`SPRING_APPLICATION_JSON={"server":{"port":2,"address":"::1"},"zuul.prefix":"/json","zuul":{"routes":{"Late":{"path":"/late/**","url":"http://l"}}},"spring.profiles.active":"prod"}`,
		"SERVER_PORT=3", "ZUUL_ROUTES_LATE_RETRYABLE=true", "SPRING_PROFILES_ACTIVE=dev",
	}
	c, report := config.Parse("f.yaml", []byte(file), config.Options{Env: env, Set: []string{"zuul.prefix=/set"}})
	if len(report.Findings()) > 0 {
		t.Errorf("report:\n%s", report)
	}
	if c.Server.Port != 2 || c.Server.Address != "::1" || c.Zuul.Prefix != "/set" || c.Zuul.StripPrefix {
		t.Errorf("server %+v, prefix %s, strip %v", c.Server, c.Zuul.Prefix, c.Zuul.StripPrefix)
	}
	if r := c.Zuul.Routes[len(c.Zuul.Routes)-1]; len(c.Zuul.Routes) != 2 || r.Key != "Late" || r.Retryable == nil || !*r.Retryable {
		t.Errorf("routes %+v", c.Zuul.Routes)
	}
}

func TestBadApplicationJSON(t *testing.T) {
	for value, want := range map[string]string{
		"":                      "configuration is valid",
		" ":                     "configuration is valid",
		`{"a" "b"}`:             "environment variable SPRING_APPLICATION_JSON:1: error: broken YAML: ",
		`[1]`:                   "environment variable SPRING_APPLICATION_JSON:1: error: expected keys and values at the top of the file, found a list",
		`{"server":{"prot":1}}`: "environment variable SPRING_APPLICATION_JSON:1: error: server.prot: unknown key; did you mean server.port?",
		`{"server.port":"TOP"}`: "environment variable SPRING_APPLICATION_JSON:1: error: server.port: \"TOP\" is not a whole number",
	} {
		_, report := config.Parse("f.yaml", []byte("server.port: 1\n"), config.Options{Env: []string{"SPRING_APPLICATION_JSON=" + value}})
		if !strings.HasPrefix(report.String(), want) {
			t.Errorf("%s: %s, want %s", value, report, want)
		}
	}
}
