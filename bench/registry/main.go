// Registry measures an Eureka server under the load of a large installation:
// instances that register and renew, and clients that poll for changes. It prints a
// table in Markdown. Any server that speaks the protocol will do; the one that it
// starts is the gateway's.
//
//	go run ./bench/registry -gateway bin/gateway
//	go run ./bench/registry -url http://127.0.0.1:8761/eureka/ -pid 4711 -name "Spring Cloud Netflix"
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// options are the flags.
type options struct {
	gateway, url, name     string
	pid                    int
	apps, instances        int
	pollers, readers       int
	renew, poll, read      time.Duration
	warm, duration, change time.Duration
	metadata               int
}

func main() {
	var o options
	flag.StringVar(&o.gateway, "gateway", "bin/gateway", "`program` to start and measure, unless -url is given")
	flag.StringVar(&o.url, "url", "", "service `URL` of a running server to measure instead")
	flag.IntVar(&o.pid, "pid", 0, "process of that server, for its CPU and memory")
	flag.StringVar(&o.name, "name", "Gozer", "what to call it in the table")
	flag.IntVar(&o.apps, "apps", 500, "applications")
	flag.IntVar(&o.instances, "instances", 10_000, "instances, in all")
	flag.IntVar(&o.metadata, "metadata", 200, "bytes of metadata per instance")
	flag.DurationVar(&o.renew, "renew", 30*time.Second, "how often an instance renews")
	flag.IntVar(&o.pollers, "pollers", 200, "clients that poll for deltas")
	flag.DurationVar(&o.poll, "poll", 30*time.Second, "how often each does")
	flag.IntVar(&o.readers, "readers", 1, "clients that read the whole list")
	flag.DurationVar(&o.read, "read", 10*time.Second, "how often each does")
	flag.DurationVar(&o.change, "change", time.Second, "how often some instance registers anew")
	flag.DurationVar(&o.warm, "warm", 5*time.Second, "time before measuring")
	flag.DurationVar(&o.duration, "duration", time.Minute, "time to measure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "registry:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	s, err := reach(ctx, o)
	if err != nil {
		return err
	}
	defer s.stop()
	l := newLoad(o, s.url)
	began := time.Now()
	if err := l.registerAll(ctx); err != nil {
		return err
	}
	filled := time.Since(began)
	l.start(ctx)
	if !wait(ctx, o.warm) {
		return ctx.Err()
	}
	l.forget()
	before := s.usage()
	if !wait(ctx, o.duration) {
		return ctx.Err()
	}
	after := s.usage()
	l.stop()
	fmt.Print(report(o, l, filled, before, after))
	return nil
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
