package registry

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Settings are plain values of the configuration; the names in the comments are the
// keys that they come from. Start from [DefaultSettings].
type Settings struct {
	Leases      LeaseSettings
	Cache       CacheSettings
	Replication ReplicationSettings
	Regions     RegionSettings
	RateLimit   RateLimitSettings
	Limits      Limits
	Auth        AuthSettings

	// ContextPath stands in front of every path, such as "/ctx"; "" for none.
	ContextPath string

	// Peers are the service URLs of the other registries, perhaps with credentials;
	// the registry's own URL among them is passed over.
	Peers []string
	Self  Self

	// Environment and DataCenter are shown on the status page.
	Environment, DataCenter string
	// Dashboard serves the status page at DashboardPath.
	Dashboard     bool
	DashboardPath string

	// Transport carries the calls to peers and remote regions; it keeps its own time
	// limits for connecting. Nil means one made from Replication.
	Transport http.RoundTripper
	// TLS is for https peers when Transport is nil. It is asked at each request, and answers with
	// another pointer when connections that it made are no longer wanted; a nil one, or nil,
	// trusts the system's authorities.
	TLS func() *tls.Config
	// Logger nil means slog.Default.
	Logger *slog.Logger
}

// Self is how a registry knows its own URL in a list of peers.
type Self struct {
	// MyURL is eureka.server.my-url: exactly the own URL, "" when not known.
	MyURL string
	// Hosts are the names and addresses of this machine.
	Hosts []string
	// Port is the registry's own port. 0 compares hosts only, as the original does.
	Port int
	// InstanceID of the registry's own registration, if it registers anywhere.
	InstanceID string
}

// LeaseSettings are about when leases expire.
type LeaseSettings struct {
	SelfPreservation         bool          // enable-self-preservation
	RenewalPercentThreshold  float64       // also bounds what one run evicts
	ThresholdUpdateInterval  time.Duration // renewal-threshold-update-interval-ms
	ClientRenewalInterval    time.Duration // expected-client-renewal-interval-seconds
	EvictionInterval         time.Duration // eviction-interval-timer-in-ms
	WaitWhenSyncEmpty        time.Duration // wait-time-in-ms-when-sync-empty
	SyncWhenTimestampDiffers bool
	ExactExpiry              bool // a renewed lease lives its duration, not twice that
	ExpectedClients          int  // eureka.instance.registry.default-open-for-traffic-count
	ValidateDataCenterID     bool // an Amazon instance needs instance-id
	MinAvailablePeers        int  // min-available-instances-for-peer-replication, -1 for none
	OverrideLifetime         time.Duration
}

// CacheSettings are about how fresh answers are.
type CacheSettings struct {
	ReadOnly       bool          // use-read-only-response-cache
	UpdateInterval time.Duration // response-cache-update-interval-ms
	Expiration     time.Duration // response-cache-auto-expiration-in-seconds
	MaxEntries     int

	DisableDelta       bool
	DeltaRetention     time.Duration // retention-time-in-m-s-in-delta-queue
	DeltaSweepInterval time.Duration // delta-retention-timer-interval-in-ms
}

// ReplicationSettings are about peers.
type ReplicationSettings struct {
	MaxQueue       int           // max-elements-in-peer-replication-pool
	MaxTime        time.Duration // max-time-for-replication
	Compress       bool          // enable-replicated-request-compression
	ConnectTimeout time.Duration // peer-node-connect-timeout-ms
	ReadTimeout    time.Duration // peer-node-read-timeout-ms
	IdleTimeout    time.Duration // peer-node-connection-idle-timeout-seconds
	SyncRetries    int           // registry-sync-retries
	SyncRetryWait  time.Duration // registry-sync-retry-wait-ms
	SyncTimeout    time.Duration // for reading a peer's whole list
}

// RegionSettings are about registries whose lists are shown too.
type RegionSettings struct {
	URLs           map[string]string   // remote-region-urls-with-name
	Whitelist      map[string][]string // remote-region-app-whitelist; "global" for the others
	FetchInterval  time.Duration
	ReadTimeout    time.Duration
	DisableDelta   bool
	NoFallback     bool // disable-transparent-fallback-to-other-region
	AcceptEncoding bool // g-zip-content-from-remote-region
}

// RateLimitSettings are the original's limits for reading (spec 4.13).
type RateLimitSettings struct {
	Enabled           bool
	ThrottleStandard  bool
	PrivilegedClients []string
	Burst             int
	AllPerSecond      int // rate-limiter-registry-fetch-average-rate
	FullPerSecond     int // rate-limiter-full-fetch-average-rate
}

// Limits bound what strangers can make the registry hold.
type Limits struct {
	Applications int
	Instances    int
	Instance     int   // bytes of an instance's texts, metadata included
	Body         int64 // bytes of a registration
	Batch        int64 // bytes of a replication batch or of a peer's list
	BatchItems   int
	Unsent       int64 // bytes of answers that readers have not taken yet; then there are no newer ones
	Subscribers  int   // open push streams
	PushBacklog  int   // events that a push stream may lag behind
	Connections  int
}

// DefaultSettings are Spring Cloud's defaults.
func DefaultSettings() Settings {
	return Settings{
		Leases: LeaseSettings{
			SelfPreservation: true, RenewalPercentThreshold: 0.85, ThresholdUpdateInterval: 15 * time.Minute,
			ClientRenewalInterval: 30 * time.Second, EvictionInterval: time.Minute, WaitWhenSyncEmpty: 5 * time.Minute,
			SyncWhenTimestampDiffers: true, MinAvailablePeers: -1, OverrideLifetime: time.Hour,
		},
		Cache: CacheSettings{
			ReadOnly: true, UpdateInterval: 30 * time.Second, Expiration: 180 * time.Second, MaxEntries: 1000,
			DeltaRetention: 3 * time.Minute, DeltaSweepInterval: 30 * time.Second,
		},
		Replication: ReplicationSettings{
			MaxQueue: 10_000, MaxTime: 30 * time.Second, ConnectTimeout: 200 * time.Millisecond, ReadTimeout: 200 * time.Millisecond,
			IdleTimeout: 30 * time.Second, SyncRetries: 5, SyncRetryWait: 30 * time.Second, SyncTimeout: 8 * time.Second,
		},
		Regions:   RegionSettings{FetchInterval: 30 * time.Second, ReadTimeout: time.Second, AcceptEncoding: true},
		RateLimit: RateLimitSettings{Burst: 10, AllPerSecond: 500, FullPerSecond: 100},
		Limits: Limits{
			Applications: 5000, Instances: 50_000, Instance: 64 << 10, Body: 1 << 20, Batch: 64 << 20, BatchItems: 10_000, Unsent: 256 << 20,
			Subscribers: 1000, PushBacklog: 64,
		},
		Environment: "test", DataCenter: "default", Dashboard: true, DashboardPath: "/",
	}
}

// Validate finds what cannot work. The error joins all complaints.
func (s *Settings) Validate() error {
	var problems []error
	positive := func(name string, d time.Duration) {
		if d <= 0 {
			problems = append(problems, fmt.Errorf("registry: %s must be more than 0, not %s", name, d))
		}
	}
	positive("renewal-threshold-update-interval-ms", s.Leases.ThresholdUpdateInterval)
	positive("expected-client-renewal-interval-seconds", s.Leases.ClientRenewalInterval)
	positive("eviction-interval-timer-in-ms", s.Leases.EvictionInterval)
	positive("response-cache-update-interval-ms", s.Cache.UpdateInterval)
	positive("delta-retention-timer-interval-in-ms", s.Cache.DeltaSweepInterval)
	if p := s.Leases.RenewalPercentThreshold; !(p >= 0 && p <= 1) {
		problems = append(problems, fmt.Errorf("registry: renewal-percent-threshold must be from 0 to 1, not %v", p))
	}
	return errors.Join(problems...)
}
