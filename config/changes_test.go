package config_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
)

func TestChangedFrom(t *testing.T) {
	const base = "server.port: 8080\nzuul.routes.users: {path: /users/**, serviceId: users}\nusers.ribbon.listOfServers: [a, b]\n" +
		"gateway.filters.Banner: {text: hi, deep: {er: 1}}\neureka.client.service-url.defaultZone: http://u:${SECRET}@r:1/eureka\n"
	tests := []struct {
		name, from, to string
		env            []string // of the later one
		want           []string
	}{
		{name: "nothing", from: base, to: base},
		{name: "notation and place", from: base, to: "# moved\n" + strings.Replace(base, "server.port: 8080", "server: {PORT: 8080}", 1)},
		{name: "value", from: base, to: strings.Replace(base, "8080", "8081", 1), want: []string{"server.port"}},
		{name: "list", from: base, to: strings.Replace(base, "[a, b]", "[a, c]", 1), want: []string{"users.ribbon.listOfServers"}},
		{name: "list cut elsewhere", from: "ribbon.retryableStatusCodes: [50, 3]\n", to: "ribbon.retryableStatusCodes: [503]\n", want: []string{"ribbon.retryableStatusCodes"}},
		{name: "added and removed", from: "zuul.prefix: /api\n", to: "zuul.retryable: true\n", want: []string{"zuul.prefix", "zuul.retryable"}},
		{name: "a filter's setting", from: base, to: strings.Replace(base, "er: 1", "er: 2", 1), want: []string{"gateway.filters.Banner.deep.er"}},
		{name: "placeholder", from: base, to: base, env: []string{"SECRET=other"}, want: []string{"eureka.client.service-url.defaultZone"}},
		{name: "environment", from: base, to: base, env: []string{"SECRET=hunter2", "USERS_RIBBON_READTIMEOUT=7"}, want: []string{"users.ribbon.ReadTimeout"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			secret := []string{"SECRET=hunter2"}
			if tt.env == nil {
				tt.env = secret
			}
			before, _ := config.Parse("a.yaml", []byte(tt.from), config.Options{Env: secret})
			after, _ := config.Parse("b.yaml", []byte(tt.to), config.Options{Env: tt.env})
			if diff := cmp.Diff(tt.want, after.ChangedFrom(before)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, before.ChangedFrom(after)); diff != "" {
				t.Errorf("the other way round: -want +got:\n%s", diff)
			}
		})
	}
}

func TestFilesOfAConfiguration(t *testing.T) {
	dir := t.TempDir()
	main, prod, eu := filepath.Join(dir, "gateway.yaml"), filepath.Join(dir, "gateway-prod.yaml"), filepath.Join(dir, "gateway-eu.yaml")
	const text, ofProd = "server.port: 1\n", "server.port: [\n"
	for path, content := range map[string]string{main: text, prod: ofProd} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []config.File{{Path: main, Sum: sha256.Sum256([]byte(text))}, {Path: prod, Sum: sha256.Sum256([]byte(ofProd))}, {Path: eu}}
	cfg, report := config.Load(main, config.Options{Profiles: []string{"prod", "eu"}})
	if report.Err() == nil {
		t.Error("the broken file was accepted")
	}
	if diff := cmp.Diff(want, cfg.Files()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
