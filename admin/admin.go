package admin

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/routing"
	"github.com/gozer-gateway/gozer/telemetry"
)

// maxBody is more than any request to an endpoint needs.
const maxBody = 64 << 10

// Settings are plain values of the configuration.
type Settings struct {
	// BasePath is management.endpoints.web.base-path; "/" and "" put the
	// endpoints at the root.
	BasePath string

	// Include and Exclude are management.endpoints.web.exposure.*: endpoint
	// ids, "*" for all. Exclude wins. With an empty Include nothing is served.
	Include, Exclude []string

	// Guard says who may change something.
	Guard Guard

	// Version of the program, for the info endpoint.
	Version string

	// Info is shown by the info endpoint as it is, so it must hold no secrets.
	Info map[string]any

	// Streams counts the readers of event streams over reloads; nil begins anew.
	Streams *Streams
	Stream  StreamSettings

	// Gatherer gives what the metrics endpoint shows beside the counters of filters; nil
	// gives nothing.
	Gatherer prometheus.Gatherer

	// Prometheus serves the same in Prometheus' formats; nil answers 404.
	Prometheus http.Handler

	// Loggers are shown and set by the loggers endpoint; nil answers 404.
	Loggers Loggers
}

// IDs lists the endpoints that there are, in the order of the alphabet.
func IDs() []string {
	return []string{"circuitbreakers", "filters", "health", "hystrix.stream", "info", "loggers", "metrics", "prometheus", "refresh", "routes", "servers"}
}

// View is what the endpoints show of a gateway. It is asked at every request,
// from any goroutine, and answers by the configuration in force.
type View interface {
	Routes() []*routing.Route
	Filters() []filters.Info
	Meter() *filters.Meter
	Commands() Commands

	// Balancers are those of all services, by name.
	Balancers() []*lb.Balancer

	// Retries has an entry for each service, by id.
	Retries() []telemetry.Retries

	// Components are further parts of the health endpoint; nil for none.
	Components() []Component

	// Ready is false before the gateway serves and from the moment it drains.
	Ready() bool

	// Refresh loads the configuration again. A failure says everything that is
	// wrong, and leaves the routes as they were.
	Refresh(ctx context.Context) (Change, error)

	// Reloads counts what Refresh, signals and changed files have led to.
	Reloads() Reloads
}

// Commands are the Hystrix commands of a gateway. *ribboncmd.Commands are such.
type Commands interface {
	Snapshots() []ribboncmd.Snapshot
	Pools() []ribboncmd.PoolSnapshot
	Force(key string, o ribboncmd.Override) bool
	Reset(key string) bool
}

var _ Commands = (*ribboncmd.Commands)(nil)

// New returns the handler of the management listener.
func New(s Settings, v View) http.Handler {
	a := &api{settings: s, view: v, router: mux.NewRouter().SkipClean(true)}
	a.settings.BasePath = "/" + strings.Trim(s.BasePath, "/")
	a.router.NotFoundHandler = http.HandlerFunc(notFound)
	a.register()
	protection := http.NewCrossOriginProtection() // a web page must not refresh the routes of its reader's gateway
	protection.SetDenyHandler(http.HandlerFunc(forbidden))
	return guard(protection.Handler(a.protect(a.router)))
}

type api struct {
	settings Settings
	view     View
	router   *mux.Router
	links    []link
}

// anyName is the rest of a path: names may hold slashes and line ends.
const anyName = "/{name:(?s:.+)}"

func (a *api) register() {
	a.endpoint("health", "", methods{http.MethodGet: a.health})
	a.endpoint("health", "/liveness", methods{http.MethodGet: a.liveness})
	a.endpoint("health", "/readiness", methods{http.MethodGet: a.readiness})
	a.endpoint("info", "", methods{http.MethodGet: a.info})
	a.endpoint("filters", "", methods{http.MethodGet: a.filters})
	a.endpoint("metrics", "", methods{http.MethodGet: a.metrics})
	a.endpoint("metrics", anyName, methods{http.MethodGet: a.metric})
	a.endpoint("prometheus", "", methods{http.MethodGet: a.prometheus})
	a.endpoint("loggers", "", methods{http.MethodGet: a.loggers})
	a.endpoint("loggers", anyName, methods{http.MethodGet: a.logger, http.MethodPost: a.setLogger})
	a.endpoint("circuitbreakers", "", methods{http.MethodGet: a.circuits})
	a.endpoint("circuitbreakers", anyName, methods{http.MethodGet: a.circuits, http.MethodPost: a.updateCircuit})
	a.endpoint("servers", "", methods{http.MethodGet: a.servers})
	a.endpoint("servers", anyName, methods{http.MethodGet: a.servers})
	a.registerStreams()
	a.endpoint("refresh", "", methods{http.MethodPost: a.reload})
	routes := methods{http.MethodGet: a.routes, http.MethodPost: a.refresh}
	a.endpoint("routes", "", routes)
	a.endpoint("routes", "/{format}", methods{http.MethodGet: a.routes})
	if a.exposed("routes") {
		a.router.Handle("/routes", routes)
		a.router.Handle("/routes/{format}", methods{http.MethodGet: a.routes})
	}
	a.router.Handle(a.settings.BasePath, methods{http.MethodGet: a.index})
}

// endpoint serves a path below the one of the endpoint id, if that is exposed.
func (a *api) endpoint(id, path string, m methods) {
	if !a.exposed(id) {
		return
	}
	full := strings.TrimSuffix(a.settings.BasePath, "/") + "/" + id + path
	a.router.Handle(full, m)
	a.links = append(a.links, linkTo(id, path, full))
}

func (a *api) exposed(id string) bool {
	return Exposed(a.settings.Include, a.settings.Exclude, id)
}

// Exposed reports whether an endpoint is served under these Settings.
func Exposed(include, exclude []string, id string) bool {
	return names(include, id) && !names(exclude, id)
}

func names(list []string, id string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, id)
}

// guard bounds request bodies and forbids to keep answers.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// methods serves one path: GET also answers HEAD, what is not there is answered
// with 405.
type methods map[string]http.HandlerFunc

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h := m[method]; h != nil {
		h(w, r)
		return
	}
	allowed := append(slices.Sorted(maps.Keys(m)), http.MethodHead)
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	fail(w, r, http.StatusMethodNotAllowed, "Request method '"+r.Method+"' not supported")
}
