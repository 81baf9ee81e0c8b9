//go:build linux

// Command compare measures Gozer beside other proxies and writes the figures to
// docs/performance.md. It runs on Linux with two cores: the proxy has one of them,
// clients and backends share the other, so that the proxy is what limits. Every
// round runs each proxy once, so that what else the machine does hits all alike.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	rounds    int
	span      time.Duration // of one measurement
	idleConns int           // 0 leaves the idle run out
	fixedRate bool          // whether to measure at a fixed rate
	only      list          // names of peers, empty for all
	scenes    list          // names of scenes, empty for all
	builds    list          // more builds of the gateway, name=file
	out       string
}

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(v string) error { *l = append(*l, strings.Split(v, ",")...); return nil }

func parse(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	quick := f.Bool("quick", false, "be done in three minutes: two rounds of one second")
	f.IntVar(&s.rounds, "rounds", 5, "`number` of rounds")
	f.DurationVar(&s.span, "span", 4*time.Second, "`duration` of one measurement")
	f.IntVar(&s.idleConns, "idle", 10_000, "idle `connections`, 0 to leave that part out")
	f.BoolVar(&s.fixedRate, "rate", true, "measure latency at a fixed rate")
	f.Var(&s.only, "only", "`names` of the proxies to measure; the first one is the measure of the others")
	f.Var(&s.scenes, "scenes", "`names` of the scenes to measure")
	f.Var(&s.builds, "build", "another build of the gateway, `name=file`; may be repeated")
	f.StringVar(&s.out, "out", "", "Markdown `file` whose generated part to replace; none: only print")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if *quick {
		s.rounds, s.span = 2, time.Second
	}
	if s.rounds < 1 || s.span < time.Second {
		return s, errors.New("at least one round, and a second for each measurement")
	}
	return s, nil
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	scenes, err := pickScenes(s.scenes)
	if err != nil {
		return err
	}
	if err := pinSelf(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gozer-compare-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	peers, err := choosePeers(ctx, s, dir)
	if err != nil {
		return err
	}
	lab, err := openLab(ctx, dir)
	if err != nil {
		return err
	}
	defer lab.close()
	r := newResult(s, peers, scenes)
	r.machine, r.command = describeMachine(ctx, peers), strings.Join(append([]string{"bench/compare"}, args...), " ")
	if err := lab.measure(ctx, r); err != nil {
		return err
	}
	text := r.markdown()
	fmt.Println(text)
	if s.out == "" {
		return nil
	}
	return replacePart(s.out, text)
}
