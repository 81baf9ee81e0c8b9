//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// describeMachine names what the figures depend on, a line each.
func describeMachine(ctx context.Context, peers []peer) []string {
	lines := []string{
		fmt.Sprintf("%s, %d cores; Linux %s; %s; load average at the start %s",
			cpuModel(), runtime.NumCPU(), firstLine(exec.CommandContext(ctx, "uname", "-r")), runtime.Version(), load()),
	}
	seen := map[string]bool{}
	var versions []string
	for _, p := range peers {
		if p.version == nil || seen[p.program] {
			continue
		}
		seen[p.program] = true
		version := firstLine(exec.CommandContext(ctx, p.version[0], p.version[1:]...))
		versions = append(versions, p.name+" "+lastVersion(version))
	}
	return append(lines, strings.Join(versions, ", "))
}

func firstLine(cmd *exec.Cmd) string {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// lastVersion finds the version in lines such as "nginx version: nginx/1.22.1",
// "HAProxy version 2.6.12 2026/01/02 - https://…" and "v1.0-3-gabcdef".
func lastVersion(line string) string {
	_, after, found := strings.Cut(line, "version")
	if !found {
		return strings.TrimSpace(line)
	}
	fields := strings.Fields(strings.TrimPrefix(after, ":"))
	if len(fields) == 0 {
		return line
	}
	return fields[0][strings.LastIndexByte(fields[0], '/')+1:]
}

func cpuModel() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, found := strings.Cut(string(info), "model name")
	if !found {
		return runtime.GOARCH
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Trim(line, "\t :")
}

// load is what else the machine does: above 0.2 or so, wait for a better moment.
func load() string {
	average, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(average), " ")
	return first
}
