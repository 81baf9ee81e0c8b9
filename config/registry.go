package config

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"time"
)

// Registry is eureka.server.* and what else the registry needs: the leases of other
// processes, served on a listener of its own.
type Registry struct {
	Enabled     bool
	Port        int // 0 means any free port.
	Address     string
	ContextPath string
	// MyURL is the registry's own among the peers, "" when it has to guess.
	MyURL string
	// ComparePorts tells two registries on one host apart by their ports.
	ComparePorts bool

	SelfPreservation         bool
	RenewalPercentThreshold  float64
	ThresholdUpdateInterval  time.Duration
	ClientRenewalInterval    time.Duration
	EvictionInterval         time.Duration
	ExactLeaseExpiry         bool
	OpenForTrafficCount      int
	SyncWhenTimestampDiffers bool
	ValidateDataCenterID     bool
	MinAvailablePeers        int

	Cache       RegistryCache
	Replication RegistryReplication
	Regions     RegistryRegions
	RateLimit   RegistryRateLimit
	Limits      RegistryLimits
	TLS         RegistryTLS

	Users         map[string]*RegistryUser
	AnonymousRead bool
	// SpringUser and SpringPassword are spring.security.user.*, a user who may do
	// everything; there is none without a password.
	SpringUser, SpringPassword string

	Dashboard               bool
	DashboardPath           string
	Environment, DataCenter string
}

// RegistryCache is how fresh a registry's answers are.
type RegistryCache struct {
	ReadOnly           bool
	UpdateInterval     time.Duration
	Expiration         time.Duration
	MaxEntries         int
	DisableDelta       bool
	DeltaRetention     time.Duration
	DeltaSweepInterval time.Duration
}

// RegistryReplication is about peers.
type RegistryReplication struct {
	MaxQueue          int
	MaxTime           time.Duration
	Compress          bool
	ConnectTimeout    time.Duration
	ReadTimeout       time.Duration
	IdleTimeout       time.Duration
	SyncRetries       int
	SyncRetryWait     time.Duration
	WaitWhenSyncEmpty time.Duration
}

// RegistryRegions is about registries elsewhere whose lists are shown too.
type RegistryRegions struct {
	URLs          map[string]string
	Whitelist     map[string][]string
	FetchInterval time.Duration
	ReadTimeout   time.Duration
	DisableDelta  bool
	NoFallback    bool
}

// RegistryRateLimit is eureka.server.rate-limiter-*.
type RegistryRateLimit struct {
	Enabled           bool
	ThrottleStandard  bool
	PrivilegedClients []string
	Burst             int
	AllPerSecond      int
	FullPerSecond     int
}

// RegistryLimits bound what clients can make the registry hold.
type RegistryLimits struct {
	Applications, Instances           int
	InstanceSize, BodySize, BatchSize int64 // bytes
	UnsentSize                        int64 // bytes
	Subscribers, PushBacklog          int
}

// RegistryTLS is eureka.server.ssl.*. An empty certificate means no TLS.
type RegistryTLS struct {
	Certificate, PrivateKey string // files
	// ClientAuth is "none", "want" or "need", TrustCertificate whom clients' certificates
	// are from.
	ClientAuth, TrustCertificate string
}

// RegistryUser is eureka.server.users.<user>.*.
type RegistryUser struct {
	Password, Token, Certificate string
	Applications                 []string
	Replicate, Administer        bool
}

// nearest is the service URL that clients in this process assume when none is written:
// that of the registry here, if there is one, else where one usually is.
func (r *Registry) nearest() string {
	if !r.Enabled || r.Port == 0 {
		return "http://localhost:8761/eureka/"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(cmp.Or(r.Address, "localhost"), strconv.Itoa(r.Port))}
	if r.TLS.Certificate != "" {
		u.Scheme = "https"
	}
	return u.JoinPath(r.ContextPath, "eureka/").String()
}
