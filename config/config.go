// Package config turns gateway.yaml, the environment and the command line into
// one typed, checked [Config]. It knows every key by a single table ([Keys]),
// from which decoding, the report of findings and docs/configuration.md come.
package config

import (
	"strconv"
	"time"

	"github.com/gozer-gateway/gozer/internal/grpc"
)

// Config is what the gateway was told, defaults filled in. It is read-only once
// [Load] has returned it and may be shared by any number of goroutines.
type Config struct {
	Application Application
	Server      Server
	Management  Management
	Zuul        Zuul
	// Ribbon holds ribbon.* and applies to every service without settings of its own.
	Ribbon Ribbon
	// Services holds <service>.ribbon.* by service id, each entry already completed
	// from Ribbon. Use RibbonFor to look one up.
	Services  map[string]*Ribbon
	Balancers Balancers
	Hystrix   Hystrix
	Gateway   Gateway
	Eureka    Eureka
	Registry  Registry
	Tracing   Tracing
	OTLP      OTLP
	// LogLevels is logging.level.<name>: upper-case level by logger name. Only "root" counts.
	LogLevels map[string]string
	// Info is info.* as it was nested, for /actuator/info. Secrets are masked.
	Info map[string]any

	filters map[string]*FilterSettings
	places  map[string]origin
	files   []File
}

// Application is spring.application.* and spring.profiles.*.
type Application struct {
	Name string
	// Profiles are the active profiles, lowest precedence first.
	Profiles []string
}

// Server is server.* and error.path: the listener that takes proxied traffic.
type Server struct {
	Port    int // 0 means any free port.
	Address string
	// Graceful tells whether requests in flight are waited for at shutdown.
	Graceful bool
	// DrainTimeout is spring.lifecycle.timeout-per-shutdown-phase, the limit of that wait,
	// for requests whose response has not begun.
	DrainTimeout  time.Duration
	MaxHeaderSize int64  // bytes
	Engine        string // Native or NetHTTP
	HTTP2         bool   // server.http2.enabled
	Forward       ForwardHeaders
	ProxyProtocol ProxyProtocol
	Error         ErrorPage
	SSL           SSL // see Config.TLS
}

// The values of server.http1.engine: what speaks HTTP/1.1 on the proxy's both sides.
const (
	Native  = "native"
	NetHTTP = "nethttp"
)

// ErrorPage is server.error.*.
type ErrorPage struct {
	IncludeMessage string // "always", "never" or "on-param"
}

// Management is management.*: the listener of the actuator endpoints.
type Management struct {
	SSL SSL
	// CertificateWarning is how long before its end a certificate is warned of.
	CertificateWarning time.Duration

	Port     int // 0 means any free port, -1 no management listener.
	Address  string
	BasePath string
	Include  []string // endpoint ids, "*" for all
	Exclude  []string // wins over Include
	Token    string   // a secret; empty: there is none
	Protect  string   // "writes" or All
	Metrics  Metrics
}

// Zuul is zuul.*, without the keys that only a servlet container understands.
type Zuul struct {
	Prefix      string
	StripPrefix bool
	Retryable   bool
	// RetryEnabled is spring.cloud.loadbalancer.retry.enabled. Without it neither Retryable
	// nor that of any route is true.
	RetryEnabled bool
	Routes       []Route // in the order in which they were first written

	AddProxyHeaders    bool
	AddHostHeader      bool
	IgnoredServices    []string
	IgnoredPatterns    []string
	IgnoredHeaders     []string
	SensitiveHeaders   []string
	IgnoreLocalService bool

	// DecodeURL is nil unless zuul.decode-url is written out: the path is then sent as
	// received. True brings back the original's decoding and re-encoding.
	DecodeURL                        *bool
	RemoveSemicolonContent           bool
	ForceOriginalQueryStringEncoding bool

	IncludeDebugHeader           bool
	InitialStreamBufferSize      int64 // bytes
	SSLHostnameValidationEnabled bool

	Host ZuulHost
	// Isolation is zuul.ribbon-isolation-strategy. HystrixFor combines it with the rest.
	Isolation          string // "SEMAPHORE" or "THREAD"
	MaxSemaphores      int
	SemaphoreByService map[string]int
	ThreadPool         ZuulThreadPool
	Debug              ZuulDebug

	DisabledFilters []FilterRef
}

// Route is one entry of zuul.routes with the defaults of Zuul filled in.
type Route struct {
	Key string // the map key, case kept
	// Shorthand is the value when the entry was written as one string. The other fields
	// are filled from it too.
	Shorthand string
	ID        string
	Path      string // ant pattern, without zuul.prefix, with a leading slash
	// Location is an http(s) URL, "forward:…" or a service id.
	Location    string
	StripPrefix bool
	Retryable   *bool // nil means zuul.retryable
	// SensitiveHeaders replaces zuul.sensitive-headers when CustomSensitiveHeaders is set.
	SensitiveHeaders       []string
	CustomSensitiveHeaders bool
	Position               Position
}

// ZuulHost is zuul.host.*: pool and timeouts of URL routes.
type ZuulHost struct {
	MaxTotalConnections      int
	MaxPerRouteConnections   int
	ConnectTimeout           time.Duration // 0 means no limit
	SocketTimeout            time.Duration // per read, 0 means no limit
	TimeToLive               time.Duration // age of a connection; 0 or less means no limit
	ConnectionRequestTimeout time.Duration // wait for a free connection; negative means as long as ConnectTimeout
}

// ZuulThreadPool is zuul.thread-pool.*, used with THREAD isolation only.
type ZuulThreadPool struct {
	UseSeparateThreadPools bool
	ThreadPoolKeyPrefix    string
}

// ZuulDebug is zuul.debug.*.
type ZuulDebug struct {
	Request   bool
	Parameter string
}

// FilterRef names a filter and a phase, as in zuul.<Name>.<Phase>.disable.
type FilterRef struct {
	Name, Phase string
	Position    Position
}

// Ribbon is ribbon.* or, completed from it, <service>.ribbon.*.
type Ribbon struct {
	ConnectTimeout time.Duration
	ReadTimeout    time.Duration
	// MaxAutoRetries counts repeats on the same server, MaxAutoRetriesNextServer further servers.
	MaxAutoRetries           int
	MaxAutoRetriesNextServer int
	OkToRetryOnAllOperations bool
	RetryableStatusCodes     []int
	// Servers is listOfServers, parsed; empty when the service needs discovery.
	Servers []Instance
	// Secure is IsSecure; nil leaves the decision to the entry's scheme, then to SecurePorts.
	Secure                *bool
	SecurePorts           []int
	MaxTotalConnections   int
	MaxConnectionsPerHost int
	AcquireTimeout        time.Duration // wait for a free connection
	PoolKeepAlive         time.Duration // age of a connection
	IdleTimeout           time.Duration // of an idle connection
	Trip                  Trip
	Balancing             Balancing
	// BackoffInterval is the pause before the first retry, which doubles with each further one.
	BackoffInterval time.Duration
	Retry           Retry
	// ListenersOff names the listeners of commands that are switched off, in lower case.
	ListenersOff map[string]bool
}

// Retry is gateway.retry.<service>.*: what bounds and narrows retries beyond their numbers.
type Retry struct {
	Budget          bool // false: nothing but the numbers bounds retries
	BudgetPercent   int  // retries per 100 requests
	BudgetPerSecond int  // retries that are allowed however few requests there are
	BudgetBurst     int  // retries that may be saved up
	MaxBackoff      time.Duration
	Handler         Class       // any, default, http, connect, or one that was given in Go
	ThrottledStatus []int       // responses that count as failures of the server
	Codes           []grpc.Code // of calls that are made again
}

// Trip is niws.loadbalancer.<service>.*: when failures in a row take a server out of
// rotation, and for how long.
type Trip struct {
	Failures int
	Factor   time.Duration // first pause; it doubles with every further failure
	Max      time.Duration // longest pause
}

// Hystrix is hystrix.*. Use HystrixFor rather than the maps: the rules of precedence are there.
type Hystrix struct {
	Default     Command
	Commands    map[string]*Command // by command key, completed from Default
	DefaultPool ThreadPool
	ThreadPools map[string]*ThreadPool // by pool key, completed from DefaultPool
	Stream      HystrixStream
}

// HystrixStream is hystrix.stream.* and hystrix.config.stream.*: the event streams of
// the management listener.
type HystrixStream struct {
	Dashboard, Config, Utilization time.Duration // between two rounds of messages
	MaxConnections                 int           // readers of each stream
}

// Command is hystrix.command.<key>.*.
type Command struct {
	Isolation string // "SEMAPHORE" or "THREAD"
	// Timeout is the budget of one request; 0 means derived from the ribbon settings.
	Timeout        time.Duration
	TimeoutEnabled bool
	// MaxConcurrentRequests bounds SEMAPHORE isolation.
	MaxConcurrentRequests  int
	FallbackEnabled        bool
	FallbackMaxConcurrent  int
	Breaker                Breaker
	RollingWindow          time.Duration
	RollingBuckets         int
	HealthSnapshotInterval time.Duration
	PercentileWindow       time.Duration
	PercentileBuckets      int
	ThreadPoolKey          string // with THREAD isolation
	// InterruptOnTimeout and InterruptOnCancel concern commands of filters only.
	InterruptOnTimeout, InterruptOnCancel bool
}

// Breaker is hystrix.command.<key>.circuitBreaker.*.
type Breaker struct {
	Enabled                  bool
	RequestVolumeThreshold   int
	SleepWindow              time.Duration
	ErrorThresholdPercentage int
	ForceOpen, ForceClosed   bool
}

// ThreadPool is hystrix.threadpool.<key>.*.
type ThreadPool struct {
	CoreSize                    int
	MaximumSize                 int
	AllowMaximumSizeToDiverge   bool
	MaxQueueSize                int // 0 or less means no queue
	QueueSizeRejectionThreshold int
	RollingWindow               time.Duration
	RollingBuckets              int
}

// Gateway is gateway.*: what Zuul has no keys for.
type Gateway struct {
	SSL          GatewaySSL           // towards clients
	Fallback     map[string]*Fallback // by service id, "*" for all
	Reload       Reload
	Compat       Compat
	Limits       Limits
	HTTP2        HTTP2
	Shutdown     Shutdown
	ReadyTimeout time.Duration // of the successor at a hand-over
	Via          bool          // sign requests and know circles by it
	Mapper       ServiceRouteMapper
	Resilience   Resiliences
	AccessLog    AccessLog
	TLS          UpstreamTLSs // towards upstreams
	RequestID    RequestID
	Upstream     Upstreams // the protocols towards them
}

// HTTP2 is gateway.http2.*: what one connection of a client that speaks HTTP/2 may cost. Sizes are
// in bytes; where 0 is allowed it stands for no limit.
type HTTP2 struct {
	Streams                        int
	FrameSize                      int64
	StreamWindow, ConnectionWindow int64
	TableSize                      int64
	PingInterval, PingTimeout      time.Duration
	MaxAge                         time.Duration
	Resets, Control, Continuations int // Resets and Control within Interval
	Interval                       time.Duration
}

// Fallback is a static answer for a service that failed.
type Fallback struct {
	Status   int
	Headers  map[string]string
	Body     string
	Position Position
}

// Compat switches back to behaviour of the original.
type Compat struct {
	ErrorStatus   bool // status 500 for nearly every routing failure
	ZoneAvoidance bool // one zone more is left whenever one is empty or out
}

// Limits is gateway.limits.*; 0 means no limit unless said otherwise.
type Limits struct {
	MaxReplayBody  int64 // bytes kept of a body so that it can be sent again
	MaxRequestBody int64 // bytes
	MaxRequestLine int64 // bytes
	MaxHeaders     int   // field lines of a head
	HeaderTimeout  time.Duration
	BodyTimeout    time.Duration // for each wait
	WriteTimeout   time.Duration // for each wait
	IdleTimeout    time.Duration
	// MaxRequestsPerConnection closes a client's connection after so many.
	MaxRequestsPerConnection int
	// MaxConnections and MaxConnectionsPerClient bound the clients' open connections,
	// in all and per address.
	MaxConnections, MaxConnectionsPerClient int
	// TunnelIdleTimeout ends a connection that has switched protocols.
	TunnelIdleTimeout time.Duration
}

// ServiceRouteMapper derives the path of a discovered service from its id; both
// patterns empty means the id itself.
type ServiceRouteMapper struct {
	ServicePattern string
	RoutePattern   string
}

// Position is where a setting was written. Line is 0 for a setting that comes from
// the environment or the command line; File then names which.
type Position struct {
	File string
	Line int
}

// String gives "file:line", or the bare source without a line.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// Instance is one entry of listOfServers.
type Instance struct {
	Scheme string // "http", "https" or "" when the entry names none
	Host   string // without brackets when it is an IPv6 address
	Port   int    // 80 or, with https, 443 when the entry names none
}
