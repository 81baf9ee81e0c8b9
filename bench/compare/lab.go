//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lab holds the backends, which run as long as everything is measured.
type lab struct {
	dir      string
	backends []string
	process  *process
}

// openLab starts the backends: one nginx with two listeners, which serves a short
// text and two files.
func openLab(ctx context.Context, dir string) (*lab, error) {
	ports, err := freePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir}
	for _, port := range ports {
		l.backends = append(l.backends, fmt.Sprintf("127.0.0.1:%d", port))
	}
	at := place{Dir: filepath.Join(dir, "backend"), Backends: l.backends, Connections: 8192, Small: strings.Repeat("hello ", 20)}
	if err := l.writeFiles(at); err != nil {
		return nil, err
	}
	config := filepath.Join(at.Dir, "backend.conf")
	if l.process, err = start(ctx, otherCore, filepath.Join(at.Dir, "log"), "nginx", "-c", config); err != nil {
		return nil, err
	}
	if _, err := untilAnswered(ctx, l.backends[0], "/small"); err != nil {
		defer l.close()
		return nil, l.process.failure(err)
	}
	return l, nil
}

func (l *lab) writeFiles(at place) error {
	// nginx's worker is another user when root starts it.
	for _, d := range []string{l.dir, at.Dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(d, 0o755); err != nil {
			return err
		}
	}
	for name, size := range map[string]int{"64k": 64 << 10, "1m": 1 << 20} {
		if err := os.WriteFile(filepath.Join(at.Dir, name), []byte(strings.Repeat("x", size)), 0o644); err != nil {
			return err
		}
	}
	return render(filepath.Join(at.Dir, "backend.conf"), "backend.conf", at)
}

func (l *lab) close() { l.process.end() }

// seat is a running peer.
type seat struct {
	*process
	addr    string
	startup time.Duration // from start to the first proxied byte
}

// seat starts a peer that can hold a number of client connections, and waits until
// a request has gone through it.
func (l *lab) seat(ctx context.Context, p peer, connections int) (*seat, error) {
	dir, err := os.MkdirTemp(l.dir, "peer-")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	at := place{Dir: dir, Port: ports[0], Management: ports[1], Backends: l.backends, Connections: connections}
	command, err := p.command(at)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	process, err := start(ctx, proxyCore, filepath.Join(dir, "log"), command...)
	if err != nil {
		return nil, err
	}
	answered, err := untilAnswered(ctx, at.Address(), p.prefix+"/small")
	if err != nil {
		defer process.end()
		return nil, fmt.Errorf("%s: %w", p.name, process.failure(err))
	}
	return &seat{process: process, addr: at.Address(), startup: answered.Sub(began)}, nil
}

// freePorts returns ports of the loopback interface that nobody listened at a
// moment ago.
func freePorts(ctx context.Context, n int) ([]int, error) {
	var ports []int
	for range n {
		var c net.ListenConfig
		l, err := c.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// untilAnswered asks again and again until a request is answered with 200, and
// returns when that was.
func untilAnswered(ctx context.Context, addr, path string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		c, err := dial(ctx, addr)
		if err == nil {
			err = c.exchange(request{path: path})
			c.Close()
		}
		if err == nil {
			return time.Now(), nil
		}
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("no answer at %s: %w", addr, err)
		case <-again.C:
		}
	}
}
