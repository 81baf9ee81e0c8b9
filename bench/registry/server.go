package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// server is what is measured.
type server struct {
	url  string
	pid  int
	stop func()
}

// reach starts the gateway's registry, or takes the server that is running.
func reach(ctx context.Context, o options) (*server, error) {
	if o.url != "" {
		return &server{url: strings.TrimRight(o.url, "/") + "/", pid: o.pid, stop: func() {}}, nil
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "gateway.yaml")
	if err := os.WriteFile(file, []byte("eureka.server: {address: 127.0.0.1, port: "+port+"}\n"), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, o.gateway, "registry", "--config", file)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{url: "http://127.0.0.1:" + port + "/eureka/", pid: cmd.Process.Pid}
	s.stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	for range 100 {
		if answers(ctx, s.url+"apps/delta") {
			return s, nil
		}
		if !wait(ctx, 50*time.Millisecond) {
			break
		}
	}
	s.stop()
	return nil, errors.New("the registry does not answer")
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func freePort(ctx context.Context) (string, error) {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// usage is what a process has used so far, zero where that cannot be found out.
type usage struct {
	cpu       time.Duration
	rss, peak int64 // KiB
}

func (s *server) usage() usage {
	var u usage
	if s.pid == 0 {
		return u
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid)); err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 12 {
			const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux
			user, _ := strconv.ParseInt(fields[11], 10, 64)
			system, _ := strconv.ParseInt(fields[12], 10, 64)
			u.cpu = time.Duration(user+system) * tick
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		return u
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			u.rss = n
		case "VmHWM":
			u.peak = n
		}
	}
	return u
}
