package gozer

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/demo"
	"github.com/gozer-gateway/gozer/internal/tlsout"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/telemetry"
)

// Execute runs the command line as Main does, without the process around it.
func Execute(ctx context.Context, out, errOut io.Writer, args []string, opts ...Option) int {
	c := newCommand(out, errOut, opts)
	return c.execute(ctx, args)
}

// WithLevel gives the level that follows logging.level.root.
func WithLevel(l *slog.LevelVar) Option { return withLevel(l) }

// WithHealthPatience is how long the health command waits for an answer.
func WithHealthPatience(d time.Duration) Option {
	return func(o *options) { o.healthPatience = d }
}

// WithNotify tells f what a service manager is told.
func WithNotify(f func(lines ...string) error) Option { return withNotify(f) }

// Succeeded is the end of a hand-over: the successor serves.
func (g *Gateway) Succeeded() { close(g.succession.serves) }

// UntilSignal is what Main does with signals.
func UntilSignal(ctx context.Context, signals <-chan os.Signal, exit func(code int)) context.Context {
	return untilSignal(ctx, signals, exit)
}

// Tour is what the demo prints about listeners at these addresses.
func (g *Gateway) Tour(proxy, management net.Addr) string {
	return demo.Tour(g.sights(proxy, management))
}

// Servers lists what the balancer of a service chooses from; nil for an unknown
// service.
func (g *Gateway) Servers(service string) []*lb.Server {
	known := g.snapshot.Load().services[service]
	if known == nil {
		return nil
	}
	return known.Balance.Balancer.Servers()
}

// SetTransport sends the calls to a service through rt until the next reload.
// Call it while no request is served.
func (g *Gateway) SetTransport(service string, rt http.RoundTripper) {
	g.snapshot.Load().services[service].Balance.Transport = rt
}

// RunCommands judges the circuits until ctx ends, as Run does beside the rest.
func (g *Gateway) RunCommands(ctx context.Context) { g.state.commands.Run(ctx) }

// CloseIdle closes the connections to upstreams that no request uses.
func (g *Gateway) CloseIdle() { g.state.closeIdle() }

// Balancing is how the balancer of a service is set up.
func (g *Gateway) Balancing(service string) lb.BalancerSettings {
	return g.snapshot.Load().balancing[service].settings
}

// WithRegistryDial replaces how the gateway connects to registries.
func WithRegistryDial(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(o *options) { o.dialRegistry = dial }
}

// OwnInstance is what a gateway with these ports registers as.
func OwnInstance(cfg *config.Config, proxy, management int) *eureka.Instance {
	return describe(cfg, proxy, management)
}

// Commands are the circuits and bulkheads of all services.
func (g *Gateway) Commands() *ribboncmd.Commands { return g.state.commands }

// FailureLog is what keeps the log of failed TLS sessions short.
type FailureLog struct{ log failureLog }

// IsNews reports that a failure of that time is to be logged.
func (l *FailureLog) IsNews(pool, address string, cause tlsout.Cause, now time.Time) bool {
	return l.log.isNews(failureKey{pool, address, cause}, now)
}

// Remembered is how many failures are kept for that.
func (l *FailureLog) Remembered() int { return len(l.log.last) }

// TraceStats tell what became of spans.
func TraceStats(g *Gateway) telemetry.TraceStats { return g.exports.traces.Stats() }

// Within cuts off readers that do not take an answer.
var Within = within

// LogOpenTelemetry is what the command does for the process.
func LogOpenTelemetry(log *slog.Logger) (end func()) { return logOpenTelemetry(log) }

// OpenTelemetryHandler is what it logs by.
func OpenTelemetryHandler(log *slog.Logger) slog.Handler { return &complaints{log: log} }

// RenewTLS is what Run does when files of gateway.tls have changed.
func (g *Gateway) RenewTLS() { g.renewTLS() }
