package gozer

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/handover"
	"github.com/gozer-gateway/gozer/lb"
)

type options struct {
	filters   []filters.Spec
	fallbacks []serviceFallback
	listeners []lb.ExecutionListener
	observers []filters.Observer
	accessLog io.Writer // where its lines go without a file
	local     func(*mux.Router)
	sources   []discovery.Source
	logger    *slog.Logger
	lossy     *lossy                                       // what the log goes to; nil: somebody else's
	level     *slog.LevelVar                               // of the logger, follows the configuration; nil: it does not
	opened    func(g *Gateway, proxy, management net.Addr) // hears of the open listeners; management may be nil
	version   string
	source    func(context.Context) (*config.Config, error)

	rules       map[string]func() lb.Rule
	pings       map[string]lb.Ping
	listFilters map[string]func() lb.ListFilter

	serverLists   map[string]func(service string) lb.ServerList
	retryHandlers map[string]lb.RetryHandler

	sockets *handover.Sockets           // that the process was started with; nil: none
	notify  func(lines ...string) error // tells the service manager; nil: there is none

	listen func(ctx context.Context, address string) (net.Listener, error)

	dialRegistry func(ctx context.Context, network, address string) (net.Conn, error) // nil: TCP

	healthPatience time.Duration // for the answer to the health command
}

type serviceFallback struct {
	service  string
	provider fallback.Provider
}

// Option adds something to a gateway that configuration cannot.
type Option func(*options)

// WithFilters adds filters to the built-in ones. A filter with the name and
// phase of a built-in one replaces it.
func WithFilters(specs ...filters.Spec) Option {
	return func(o *options) { o.filters = append(o.filters, specs...) }
}

// WithFallback answers for a service, "*" for all, when its command fails. It
// wins over gateway.fallback.<service>.
func WithFallback(service string, p fallback.Provider) Option {
	return func(o *options) { o.fallbacks = append(o.fallbacks, serviceFallback{service, p}) }
}

// WithExecutionListener adds listeners to the load-balanced calls of every service, those of filters
// too. ribbon.listener.<name>.disabled switches one off, <service>.ribbon.… for a service.
func WithExecutionListener(listeners ...lb.ExecutionListener) Option {
	return func(o *options) { o.listeners = append(o.listeners, listeners...) }
}

// WithObserver adds observers, which are told of every request at its beginning and its
// end, after those of the gateway itself.
func WithObserver(observers ...filters.Observer) Option {
	return func(o *options) { o.observers = append(o.observers, observers...) }
}

// WithAccessLog says where the access log goes without gateway.access-log.file; the default
// is standard output.
func WithAccessLog(w io.Writer) Option {
	return func(o *options) { o.accessLog = w }
}

// WithLocal registers handlers for "forward:" routes and for requests without a
// route. register is called once per load, with an empty router.
func WithLocal(register func(*mux.Router)) Option {
	return func(o *options) { o.local = register }
}

// WithRule names a load-balancing rule, so that NFLoadBalancerRuleClassName can choose
// it. newRule makes one for each balancer, and one for each zone of it.
func WithRule(name string, newRule func() lb.Rule) Option {
	return func(o *options) { o.rules[name] = newRule }
}

// WithPing names a ping, so that NFLoadBalancerPingClassName can choose it. All services
// share p.
func WithPing(name string, p lb.Ping) Option {
	return func(o *options) { o.pings[name] = p }
}

// WithListFilter names a filter of server lists, so that NIWSServerListFilterClassName
// can choose it. newFilter makes one for each service.
func WithListFilter(name string, newFilter func() lb.ListFilter) Option {
	return func(o *options) { o.listFilters[name] = newFilter }
}

// WithServerList names a list of servers, so that NIWSServerListClassName can choose it.
// newList makes one for each service. It is read when the configuration is loaded, when
// discovery has news and every ServerListRefreshInterval, and must not block: what needs
// the network for it keeps a copy, or is a source for WithDiscovery.
func WithServerList(name string, newList func(service string) lb.ServerList) Option {
	return func(o *options) { o.serverLists[name] = newList }
}

// WithRetryHandler names a handler that says which failures are worth a retry, so that
// gateway.retry.<service>.handler can choose it. All services share h.
func WithRetryHandler(name string, h lb.RetryHandler) Option {
	return func(o *options) { o.retryHandlers[name] = h }
}

// WithDiscovery adds a source of instances. Services that it finds get a route
// each, unless they are ignored, and servers, unless listOfServers names them.
func WithDiscovery(s discovery.Source) Option {
	return func(o *options) { o.sources = append(o.sources, s) }
}

// WithLogger sets the logger; the default is slog.Default.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) { o.logger = l }
}

func withLevel(l *slog.LevelVar) Option {
	return func(o *options) { o.level = l }
}

// withSockets gives Run the sockets that the process was started with.
func withSockets(s *handover.Sockets) Option {
	return func(o *options) { o.sockets = s }
}

// withNotify is called when the state of the service changes, with lines of sd_notify.
func withNotify(notify func(lines ...string) error) Option {
	return func(o *options) { o.notify = notify }
}

// withOpened is called by Run, once the listeners are open.
func withOpened(f func(g *Gateway, proxy, management net.Addr)) Option {
	return func(o *options) { o.opened = f }
}

// WithSource gives the function that reads the configuration again when a
// refresh is asked for, or when a file of the configuration in force has changed (see
// [config.Config.Files] and gateway.reload.watch); without it a refresh keeps the
// configuration of New. With an error it may return what [config.Load] did all the same: only
// the files are looked at.
func WithSource(read func(context.Context) (*config.Config, error)) Option {
	return func(o *options) { o.source = read }
}

// WithVersion sets the version that the version command, the info endpoint and
// the log show; the default is the module version of the build.
func WithVersion(v string) Option {
	return func(o *options) { o.version = v }
}

// WithListen replaces how Run opens its listeners, for sockets that another
// process hands over and for tests; the default is TCP. listen is called for the
// configured "host:port" of the proxy and then of the management endpoints. Run
// closes what it returns.
func WithListen(listen func(ctx context.Context, address string) (net.Listener, error)) Option {
	return func(o *options) { o.listen = listen }
}

func newOptions(opts []Option) options {
	o := options{
		logger: slog.Default(), accessLog: os.Stdout, version: buildVersion(), listen: listenTCP, opened: func(*Gateway, net.Addr, net.Addr) {},
		rules: map[string]func() lb.Rule{}, pings: map[string]lb.Ping{}, listFilters: map[string]func() lb.ListFilter{},
		serverLists: map[string]func(string) lb.ServerList{}, retryHandlers: map[string]lb.RetryHandler{},
		healthPatience: 3 * time.Second,
	}
	for _, set := range opts {
		set(&o)
	}
	return o
}

func listenTCP(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
