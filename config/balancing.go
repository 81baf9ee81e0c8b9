package config

import "time"

// Class is the name of a part that is chosen by name: a Java class, its short name, or
// one that was given in Go. It is not checked here.
type Class struct {
	Name string
	At   Position
}

// Balancing says how a service's server is chosen; it is part of [Ribbon].
type Balancing struct {
	Balancer, Rule, Ping, List, Filter, Updater Class

	PingInterval, PingTimeout time.Duration
	PingPath, PingBody        string // what PingUrl asks for, and the answer it wants
	PingParallel              bool
	RefreshInterval           time.Duration // of the list
	WeightInterval            time.Duration
	ActiveLimit               int // active requests at which a server is full; 0 or less means none

	Affinity  Affinity
	Subset    Subset
	Prime     Prime
	Discovery DiscoveryList
	Zones     ZoneLimits
	Hash      Hash
	Outliers  Outliers
	Decay     time.Duration // of PeakEwma
	WeightKey string        // metadata entry that Weighted reads
	SlowStart time.Duration // 0 means none
}

// Affinity is what the zone filters read.
type Affinity struct {
	Prefer, Exclusive    bool
	MaxLoad, MaxBlackout float64
	MinAvailable         int
}

// Subset is what ServerListSubsetFilter reads.
type Subset struct {
	Size                   int
	Eliminate              float64
	MaxFailures, MaxActive int
}

// Prime is what opens connections to new servers.
type Prime struct {
	Enabled  bool
	Path     string
	Retries  int
	MaxTime  time.Duration
	MinRatio float64
}

// DiscoveryList says which instances of discovery are a service's servers.
type DiscoveryList struct {
	VIPs             []string // empty means the service id
	Prioritize       bool     // later VIPs are for when those before have no instance
	ForcePort        bool
	UseIP            bool // the instances' IP addresses instead of their host names
	Port, SecurePort int
}

// ZoneLimits say when a zone is avoided.
type ZoneLimits struct{ Load, Blackout float64 }

// Hash is what ConsistentHash goes by.
type Hash struct {
	On    string  // "address", "path", "header:<name>" or "cookie:<name>"; empty for none
	Bound float64 // active requests of a server over the average; 0 means no bound
}

// Outliers say which servers are ejected for doing worse than others.
type Outliers struct {
	Enabled       bool
	ErrorsInARow  int // 0 means they do not count
	ErrorShare    float64
	LatencyFactor float64 // 0 means it does not count
	MinRequests   int
	Interval      time.Duration
	BaseTime      time.Duration
	MaxTime       time.Duration
	MaxShare      float64
	PanicShare    float64 // 0 means no panic
}

// Balancers holds what is set for the balancers of all services at once.
type Balancers struct {
	// Zone is the gateway's own.
	Zone string
	// AvoidTripped takes servers out whose connections fail.
	AvoidTripped bool
	// ZoneAware and ZoneAvoidance switch on what their classes do about zones.
	ZoneAware, ZoneAvoidance bool
	ActiveWindow             time.Duration
	ActiveLimit              int // for services without one of their own
	ApproximateZone          bool
	Discover                 bool // servers of services that name none
}
