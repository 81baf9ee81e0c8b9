package gozer

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/gozer-gateway/gozer/config"
)

// Main is the command line of a gateway: run (the default), registry, check,
// explain, health and version. It ends the process with status 0, 1 for a failure or 2 for wrong
// usage. SIGINT and SIGTERM shut down, and a second one ends the process at once.
// A filter author's main calls it with options; nothing else is needed.
func Main(opts ...Option) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx := untilSignal(context.Background(), signals, os.Exit)
	surviveReaders()
	relaxCollector()
	cli := newCommand(os.Stdout, os.Stderr, opts)
	os.Exit(cli.execute(ctx, os.Args[1:]))
}

// surviveReaders makes writing to an output whose reader has gone a mere error. Go ends the
// process otherwise. To ignore the signal would do the same to the programs that are started.
func surviveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// relaxCollector lets the heap grow to two and a half times what is alive before it is
// collected, unless the environment says otherwise (decision 5).
func relaxCollector() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(150)
	}
}

// untilSignal returns a context that ends at the first signal. At the second one
// there is no more waiting: exit is called with the status of a failure.
func untilSignal(ctx context.Context, signals <-chan os.Signal, exit func(code int)) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		<-signals
		cancel()
		<-signals
		exit(exitFailure)
	}()
	return ctx
}

const usage = `usage: gateway [run] [--config gateway.yaml] [--profile p] [--set key=value] [--demo]
       gateway check  [--config gateway.yaml] [--profile p] [--set key=value]
       gateway explain [--config gateway.yaml] [--profile p] [--set key=value] [--header "Name: value"] METHOD URL
       gateway registry [--config gateway.yaml] [--profile p] [--set key=value]
       gateway health [--url http://127.0.0.1:8081/actuator/health/readiness] [--ca ca.pem] [--cert own.pem --key own.key] [--server-name name]
       gateway version
`

// Exit codes of the command line.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

type command struct {
	out, err io.Writer
	options  []Option
}

// newCommand counts what errOut, where the log goes, does not take.
func newCommand(out, errOut io.Writer, opts []Option) *command {
	counted := &lossy{Writer: errOut}
	return &command{out: out, err: counted, options: append(slices.Clip(opts), withLossy(counted))}
}

func (c *command) execute(ctx context.Context, args []string) int {
	verb := "run"
	if len(args) > 0 && (!strings.HasPrefix(args[0], "-") || slices.Contains([]string{"-h", "-help", "--help"}, args[0])) {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "run":
		return c.run(ctx, args)
	case "registry":
		return c.runRegistry(ctx, args)
	case "check":
		return c.check(args)
	case "explain":
		return c.explain(args)
	case "health":
		return c.health(ctx, args)
	case "version":
		fmt.Fprintln(c.out, newOptions(c.options).version)
		return exitOK
	case "help", "-h", "-help", "--help":
		fmt.Fprint(c.out, usage)
		return exitOK
	}
	fmt.Fprintf(c.err, "gateway: unknown command %q\n%s", verb, usage)
	return exitUsage
}

// flags are the flags that run and check share.
type flags struct {
	set      *flag.FlagSet
	config   string
	profiles list
	settings list
	seed     string // see config.Options
}

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func (c *command) flags(verb string) *flags {
	f := &flags{set: flag.NewFlagSet("gateway "+verb, flag.ContinueOnError), seed: rand.Text()}
	f.set.SetOutput(c.err)
	f.set.StringVar(&f.config, "config", "gateway.yaml", "configuration `file`")
	f.set.Var(&f.profiles, "profile", "active `profile`; may be repeated")
	f.set.Var(&f.settings, "set", "`key=value` that overrides the file; may be repeated")
	return f
}

// parse returns false, with the exit code, when there is nothing more to do.
func (f *flags) parse(args []string) (int, bool) { return f.parseArguments(args, 0) }

// parseArguments is parse for a command that has so many arguments beside its flags.
func (f *flags) parseArguments(args []string, wanted int) (int, bool) {
	err := f.set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK, false
	case err != nil:
		return exitUsage, false
	case f.set.NArg() > wanted:
		fmt.Fprintf(f.set.Output(), "gateway: unexpected argument %q\n", f.set.Arg(wanted))
		return exitUsage, false
	case f.set.NArg() < wanted:
		fmt.Fprint(f.set.Output(), "gateway: an argument is missing; flags come first\n"+usage)
		return exitUsage, false
	}
	if empty := f.empty(); empty != "" {
		fmt.Fprintf(f.set.Output(), "gateway: --%s is empty; was a variable not set?\n%s", empty, usage)
		return exitUsage, false
	}
	return exitOK, true
}

// empty returns the name of a flag that was given without a value.
func (f *flags) empty() string {
	name := ""
	f.set.Visit(func(given *flag.Flag) {
		values := []string{given.Value.String()}
		if several, ok := given.Value.(*list); ok {
			values = *several
		}
		if slices.Contains(values, "") {
			name = given.Name
		}
	})
	return name
}

// sources are those of every reading in this process, so that a reload makes the random
// values anew that the start made.
func (f *flags) sources() config.Options {
	return config.Options{Profiles: f.profiles, Set: f.settings, Env: os.Environ(), Seed: f.seed}
}

// load reads the configuration and looks at it with everything that the
// options add, as run would.
func (f *flags) load(opts []Option) (*config.Config, *config.Report) {
	cfg, report := config.Load(f.config, f.sources())
	Validate(cfg, report, opts...)
	return cfg, report
}

func (c *command) check(args []string) int {
	f := c.flags("check")
	if code, ok := f.parse(args); !ok {
		return code
	}
	cfg, report := f.load(c.options)
	checkAccessLog(cfg, report)
	fmt.Fprint(c.out, report)
	if report.Err() != nil {
		return exitFailure
	}
	return exitOK
}

func (c *command) fail(err error) int {
	fmt.Fprintln(c.err, "gateway:", err)
	return exitFailure
}
