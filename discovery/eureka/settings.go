package eureka

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/url"
	"time"
)

// ServerSettings say where the registries are and how they are talked to
// (eureka.client.*). A zero field means its default.
type ServerSettings struct {
	// ServiceURLs are the registries' roots by zone, such as
	// "http://user:password@host:8761/eureka/"; DefaultZone serves zones without an entry.
	ServiceURLs map[string][]string
	// Region chooses among AvailabilityZones; default us-east-1.
	Region string
	// AvailabilityZones are the zones by region. The first one of Region is where this
	// process is. Without any it is DefaultZone.
	AvailabilityZones map[string][]string
	// OtherZonesFirst turns the preference for one's own zone round.
	OtherZonesFirst bool
	// Seed chooses the order of the servers of a zone, which differs between processes and
	// stays for one; the name of the host is a good one.
	Seed string

	ConnectTimeout    time.Duration // 5 s
	ReadTimeout       time.Duration // of each wait for the registry; 8 s
	IdleTimeout       time.Duration // of a connection; 30 s
	MaxConnections    int           // per host; 50
	NoCompression     bool          // do not ask for gzip
	AllowRedirects    bool          // say so in each request
	Compact           bool          // ask for the compact form
	Proxy             *url.URL
	ReconnectInterval time.Duration // after which another server may be chosen, give or take half; 20 min
	// QuarantineShare is the part of the servers that may be left out for having failed
	// before all get another chance; 0.66.
	QuarantineShare float64
	Limits          Limits // of what a registry answers
	// TLS is asked at each request to an https registry, and answers with another pointer when
	// connections that it made are no longer wanted. A nil one, or nil, means the system's authorities.
	TLS func() *tls.Config
	// Dial replaces how connections are opened, for tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Logger hears of failures and recoveries; nil means slog.Default. Credentials do not
	// get there.
	Logger *slog.Logger
}

// DefaultZone is the zone of what has none.
const DefaultZone = "defaultZone"

func (s ServerSettings) filled() ServerSettings {
	s.Region = cmp.Or(s.Region, "us-east-1")
	s.ConnectTimeout = cmp.Or(s.ConnectTimeout, 5*time.Second)
	s.ReadTimeout = cmp.Or(s.ReadTimeout, 8*time.Second)
	s.IdleTimeout = cmp.Or(s.IdleTimeout, 30*time.Second)
	s.MaxConnections = cmp.Or(s.MaxConnections, 50)
	s.ReconnectInterval = cmp.Or(s.ReconnectInterval, 20*time.Minute)
	s.QuarantineShare = cmp.Or(s.QuarantineShare, 0.66)
	if s.Dial == nil {
		s.Dial = (&net.Dialer{Timeout: s.ConnectTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	return s
}

// Zones are those of the region, never none; the first is this process's own.
func (s ServerSettings) Zones() []string {
	if zones := s.AvailabilityZones[cmp.Or(s.Region, "us-east-1")]; len(zones) > 0 {
		return zones
	}
	return []string{DefaultZone}
}

// zoneOfOthers is the zone of instances that name none: the first zone if there are
// any, as in the original, else none.
func (s ServerSettings) zoneOfOthers() string {
	if zone := s.Zones()[0]; zone != DefaultZone {
		return zone
	}
	return ""
}

// ClientSettings are those of a [Client] (eureka.client.*).
type ClientSettings struct {
	Servers       ServerSettings
	FetchInterval time.Duration // 30 s
	// BackOffBound is how many times FetchInterval may grow while fetches time out; 10.
	BackOffBound int
	DisableDelta bool
	// SingleVIP restricts the list to a virtual address.
	SingleVIP string
	// Regions are further regions whose instances the registry adds to its answers.
	Regions []string
	// AllStatuses shows instances that are not UP too.
	AllStatuses bool
	// NoPush keeps from asking the registry to push changes.
	NoPush bool
	// SnapshotFile keeps the last list over a restart; "" for none.
	SnapshotFile string
	// KeepVanished is how long instances stay that a full list lacks when it is less than
	// half as long as what was known; 0 means not at all.
	KeepVanished time.Duration
}

func (s ClientSettings) filled() ClientSettings {
	s.Servers = s.Servers.filled()
	s.FetchInterval = cmp.Or(s.FetchInterval, 30*time.Second)
	s.BackOffBound = cmp.Or(s.BackOffBound, 10)
	return s
}

// RegistrarSettings are those of a [Registrar] (eureka.client.*, eureka.instance.*).
type RegistrarSettings struct {
	Servers ServerSettings
	// Instance is what is registered. Its lease gives the interval of heartbeats.
	Instance *Instance
	// BackOffBound is how many times that interval may grow while heartbeats time out; 10.
	BackOffBound int
	// ReplicationInterval is how often changes are looked for; 30 s.
	ReplicationInterval time.Duration
	// ChangesWait makes a change of status wait for that, instead of being sent at once.
	ChangesWait bool
	// StayRegistered leaves out the goodbye at the end, OUT_OF_SERVICE and cancellation.
	StayRegistered bool
	// Health is asked for the status before each replication; an error means DOWN. Nil
	// leaves the status alone.
	Health func(ctx context.Context, current Status) (Status, error)
}

func (s RegistrarSettings) filled() RegistrarSettings {
	s.Servers = s.Servers.filled()
	s.BackOffBound = cmp.Or(s.BackOffBound, 10)
	s.ReplicationInterval = cmp.Or(s.ReplicationInterval, 30*time.Second)
	return s
}
