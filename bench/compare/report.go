//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// The generated part of the Markdown file lies between these lines.
const (
	partBegin = "<!-- bench-compare begins: generated, do not edit -->"
	partEnd   = "<!-- bench-compare ends -->"
)

// replacePart replaces the generated part of a file.
func replacePart(file, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, begins := strings.Cut(string(old), partBegin+"\n")
	_, tail, ends := strings.Cut(rest, partEnd)
	if !begins || !ends {
		return fmt.Errorf("%s has no generated part", file)
	}
	return os.WriteFile(file, []byte(head+partBegin+"\n\n"+text+"\n"+partEnd+tail), 0o644)
}

func (r *result) markdown() string {
	var b strings.Builder
	for _, line := range r.machine {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	fmt.Fprintf(&b, "- %s: `%s`, %s of %s\n", time.Now().Format(time.DateOnly), r.command, rounds(r.rounds), r.span)
	cpu := func(s sample) float64 { return s.cpu }
	rate := func(s sample) float64 { return s.rate }
	p99 := func(s sample) float64 { return micros(s.latency.p99) }
	r.ratios(&b, "CPU of the proxy per request, less is better", cpu, "%.1f µs")
	r.ratios(&b, "Requests per second, more is better", rate, "%.0f")
	r.ratios(&b, "99th percentile of latency in the closed loop, less is better", p99, "%.0f µs")
	r.latencies(&b)
	r.presence(&b)
	r.failures(&b)
	return b.String()
}

// ratios writes a table of peers and scenes: the first peer's medians, and the
// others' as multiples of them.
func (r *result) ratios(b *strings.Builder, title string, of func(sample) float64, unit string) {
	head := []string{""}
	for _, sc := range r.scenes {
		head = append(head, sc.name)
	}
	t := table{head: head}
	base := r.closed[r.peers[0].name]
	for i, p := range r.peers {
		row := []string{p.name}
		for _, sc := range r.scenes {
			own := median(r.closed[p.name][sc.name], of)
			if i == 0 {
				row = append(row, fmt.Sprintf(unit, own))
				continue
			}
			row = append(row, fmt.Sprintf("%.2f", own/median(base[sc.name], of)))
		}
		t.rows = append(t.rows, row)
	}
	t.write(b, title)
}

func (r *result) latencies(b *strings.Builder) {
	if len(r.open) == 0 {
		return
	}
	t := table{head: []string{"", "median", "99 %", "99.9 %"}}
	for _, p := range r.peers {
		runs := r.open[p.name]
		t.rows = append(t.rows, []string{
			p.name,
			fmt.Sprintf("%.0f µs", micros(median(runs, func(o outcome) time.Duration { return o.latency.p50 }))),
			fmt.Sprintf("%.0f µs", micros(median(runs, func(o outcome) time.Duration { return o.latency.p99 }))),
			fmt.Sprintf("%.0f µs", micros(median(runs, func(o outcome) time.Duration { return o.latency.p999 }))),
		})
	}
	t.write(b, fmt.Sprintf("Latency at a fixed %.0f requests per second over 64 connections, counted from when a request was due", r.rate))
}

func (r *result) presence(b *strings.Builder) {
	const mib = 1 << 20
	t := table{head: []string{"", "start to first proxied byte", "RSS after " + r.scenes[0].name, "RSS after all scenes", "per idle connection"}}
	for _, p := range r.peers {
		all := r.residences[p.name]
		idle := "–"
		if each, ok := r.idle[p.name]; ok {
			idle = fmt.Sprintf("%.1f KiB", each/1024)
		}
		t.rows = append(t.rows, []string{
			p.name,
			fmt.Sprintf("%.0f ms", micros(median(all, func(v residence) time.Duration { return v.startup }))/1e3),
			fmt.Sprintf("%.1f MiB", median(all, func(v residence) float64 { return v.early })/mib),
			fmt.Sprintf("%.1f MiB", median(all, func(v residence) float64 { return v.peak })/mib),
			idle,
		})
	}
	title := "Start and memory"
	if len(r.idle) > 0 {
		title += fmt.Sprintf("; %d idle connections", r.idleConns)
	}
	t.write(b, title)
}

// failures names every peer whose requests were not all answered with 200.
func (r *result) failures(b *strings.Builder) {
	for _, p := range r.peers {
		for _, sc := range r.scenes {
			n := 0
			for _, s := range r.closed[p.name][sc.name] {
				n += s.failed
			}
			if n > 0 {
				fmt.Fprintf(b, "\n%s, %s: %d requests failed.\n", p.name, sc.name, n)
			}
		}
		n := 0
		for _, o := range r.open[p.name] {
			n += o.failed
		}
		if n > 0 {
			fmt.Fprintf(b, "\n%s at the fixed rate: %d requests failed.\n", p.name, n)
		}
	}
}

// table is a Markdown table.
type table struct {
	head []string
	rows [][]string
}

func (t table) write(b *strings.Builder, title string) {
	fmt.Fprintf(b, "\n**%s**\n\n| %s |\n|---%s|\n", title, strings.Join(t.head, " | "), strings.Repeat("|--:", len(t.head)-1))
	for _, row := range t.rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}
