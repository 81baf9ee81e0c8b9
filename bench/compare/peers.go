//go:build linux

package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed peers
var configurations embed.FS

// peer is one contender.
type peer struct {
	name    string
	program string
	config  string   // template in the folder peers, "" for none
	args    []string // %s is the configuration file
	prefix  string   // of the paths of all requests
	version []string // command that prints it
}

// place is where a peer listens and what it serves, for the templates.
type place struct {
	Dir         string
	Port        int
	Management  int
	Backends    []string
	Connections int
	Small       string
}

// Address is where the proxy listens.
func (p place) Address() string { return fmt.Sprintf("127.0.0.1:%d", p.Port) }

func gozer(name, program string, more ...string) peer {
	return peer{
		name: name, program: program, config: "gozer.yaml",
		args:    append([]string{"run", "--config", "%s"}, more...),
		version: []string{program, "version"},
	}
}

// installed are the peers that the distribution brings.
func installed() []peer {
	return []peer{
		{name: "nginx", program: "nginx", config: "nginx.conf", args: []string{"-c", "%s"}, version: []string{"nginx", "-v"}},
		{name: "HAProxy", program: "haproxy", config: "haproxy.cfg", args: []string{"-f", "%s"}, version: []string{"haproxy", "-v"}},
		{name: "Caddy", program: "caddy", config: "Caddyfile", args: []string{"run", "--adapter", "caddyfile", "--config", "%s"}, version: []string{"caddy", "version"}},
	}
}

// choosePeers builds and finds the peers that the settings ask for. nginx is
// needed in any case, as the backend.
func choosePeers(ctx context.Context, s settings, dir string) ([]peer, error) {
	if _, err := exec.LookPath("nginx"); err != nil {
		return nil, fmt.Errorf("nginx is the backend and the measure, install it: %w", err)
	}
	all := slices.DeleteFunc(installed(), func(p peer) bool {
		_, err := exec.LookPath(p.program)
		return err != nil
	})
	gateway, plain := filepath.Join(dir, "gateway"), filepath.Join(dir, "reverseproxy")
	if err := build(ctx, gateway, "./cmd/gateway"); err != nil {
		return nil, err
	}
	if err := build(ctx, plain, "./bench/reverseproxy"); err != nil {
		return nil, err
	}
	url := gozer("Gozer (URL route)", gateway)
	url.prefix = "/url"
	all = append(all, peer{name: "ReverseProxy", program: plain},
		gozer("Gozer", gateway), url, gozer("Gozer (net/http)", gateway, "--set", "server.http1.engine=nethttp"))
	for _, b := range s.builds {
		name, program, _ := strings.Cut(b, "=")
		all = append(all, gozer(name, program))
	}
	return pick(all, s.only)
}

// pick returns the peers named, in the order of the names.
func pick(all []peer, names []string) ([]peer, error) {
	if len(names) == 0 {
		return all, nil
	}
	var picked []peer
	for _, name := range names {
		i := slices.IndexFunc(all, func(p peer) bool { return strings.EqualFold(p.name, name) })
		if i < 0 {
			return nil, fmt.Errorf("there is no proxy %q, or it is not installed", name)
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}

// build compiles a command of this module as the Makefile does.
func build(ctx context.Context, out, pkg string) error {
	version, _ := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	flags := "-s -w -X main.version=" + strings.TrimSpace(string(version))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "grpcnotrace", "-ldflags", flags, "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w: %s", pkg, err, text)
	}
	return nil
}

// command writes the peer's configuration and returns how to start it.
func (p peer) command(at place) ([]string, error) {
	if p.config == "" {
		return []string{p.program, "-listen", at.Address(), "-backends", strings.Join(at.Backends, ",")}, nil
	}
	file := filepath.Join(at.Dir, p.config)
	if err := render(file, p.config, at); err != nil {
		return nil, err
	}
	command := []string{p.program}
	for _, a := range p.args {
		command = append(command, strings.ReplaceAll(a, "%s", file))
	}
	return command, nil
}

func render(file, name string, at place) error {
	t, err := template.New(name).Funcs(template.FuncMap{"join": strings.Join}).ParseFS(configurations, "peers/"+name)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, at); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}
