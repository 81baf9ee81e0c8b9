//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The cores: one for the proxy, one for everything around it.
const (
	proxyCore = "0"
	otherCore = "1"
)

// pinSelf moves this process to the core of clients and backends. Its goroutines
// keep several threads there: one may sleep while another reads.
func pinSelf(ctx context.Context) error {
	pin := exec.CommandContext(ctx, "taskset", "-a", "-p", "-c", otherCore, strconv.Itoa(os.Getpid()))
	if out, err := pin.CombinedOutput(); err != nil {
		return fmt.Errorf("two cores and taskset are needed: %w: %s", err, out)
	}
	runtime.GOMAXPROCS(4)
	return nil
}

// process is a program with its children, started by this one.
type process struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	stop  context.CancelFunc
}

// start runs a command on one core, its output in the file log. It ends when ctx
// does.
func start(ctx context.Context, core, log string, command ...string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	ctx, stop := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", core}, command...)...)
	own := filepath.Dir(log) // where Caddy keeps its configuration and certificates
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "XDG_CONFIG_HOME="+own, "XDG_DATA_HOME="+own)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		stop()
		return nil, fmt.Errorf("starting %s: %w", command[0], err)
	}
	p := &process{cmd: cmd, log: log, ended: make(chan struct{}), stop: stop}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // how a proxy ends says nothing about how it ran
	}()
	return p, nil
}

// end stops the process and all its children, and waits for it.
func (p *process) end() {
	p.stop()
	<-p.ended
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // children that outlived it
}

// failure explains why the process does not do what it should.
func (p *process) failure(err error) error {
	text, readErr := os.ReadFile(p.log)
	const most = 600
	return errors.Join(fmt.Errorf("%w: %s", err, text[max(0, len(text)-most):]), readErr)
}

// family is the process with its children and theirs. What ends meanwhile is left
// out.
func (p *process) family() []int {
	all := []int{p.cmd.Process.Pid}
	for i := 0; i < len(all); i++ {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", all[i]))
		for _, t := range tasks {
			children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", all[i], t.Name()))
			for child := range strings.FieldsSeq(string(children)) {
				if pid, err := strconv.Atoi(child); err == nil {
					all = append(all, pid)
				}
			}
		}
	}
	return all
}

// cpu is the time that the process and its children have been on a core. Its grain
// is that of /proc, 10 ms.
func (p *process) cpu() time.Duration {
	var ticks int
	for _, pid := range p.family() {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 12 {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			ticks += user + system
		}
	}
	const tick = 10 * time.Millisecond // the kernel's USER_HZ is 100 everywhere that matters
	return time.Duration(ticks) * tick
}

// memory sums a line of /proc/PID/status, such as VmRSS or VmHWM, in bytes.
// Pages that processes share count for each of them.
func (p *process) memory(line string) float64 {
	var kib float64
	for _, pid := range p.family() {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, _ := strings.Cut(string(status), line+":")
		if f := strings.Fields(rest); len(f) > 0 {
			n, _ := strconv.ParseFloat(f[0], 64)
			kib += n
		}
	}
	return kib * 1024
}
