package config

import "time"

// Eureka is eureka.*.
type Eureka struct {
	Client   EurekaClient
	Instance EurekaInstance
}

// EurekaClient is eureka.client.*: the registries, what is fetched from them and
// whether the gateway registers there.
type EurekaClient struct {
	Enabled bool
	// Written tells whether the configuration has any key of eureka.client or
	// eureka.instance at all. Without one there is no client, whatever Enabled says.
	Written  bool
	Register bool // register-with-eureka
	Fetch    bool // fetch-registry

	// ServiceURLs are the registries' roots by zone, defaultZone always in that spelling.
	// There may be passwords in them.
	ServiceURLs map[string][]string
	// Assumed tells that nobody has written the URL of defaultZone.
	Assumed           bool
	Region            string
	AvailabilityZones map[string][]string // by region
	PreferSameZone    bool

	FetchInterval       time.Duration
	ReplicationInterval time.Duration
	ReadTimeout         time.Duration
	ConnectTimeout      time.Duration
	IdleTimeout         time.Duration
	MaxPerHost          int
	FetchBackOffBound   int // cache-refresh-executor-exponential-back-off-bound
	RenewBackOffBound   int // heartbeat-executor-exponential-back-off-bound
	DisableDelta        bool
	SingleVIP           string
	OnlyUp              bool
	Gzip                bool
	OnDemandUpdate      bool
	Unregister          bool // at shutdown
	AllowRedirects      bool
	DataAccept          string // "full" or "compact"
	HealthCheck         bool
	Push                bool
	SnapshotFile        string
	KeepVanished        time.Duration
	ReconnectInterval   time.Duration
	QuarantineShare     float64
	Proxy               EurekaProxy
	TLS                 EurekaTLS
}

// Active tells whether there is a client.
func (c *EurekaClient) Active() bool { return c.Enabled && c.Written && (c.Register || c.Fetch) }

// zone is where the gateway is, as Spring finds it: by its metadata, else the first zone
// of its region; "" if neither says.
func (e *Eureka) zone() string {
	if zone := e.Instance.Metadata["zone"]; zone != "" {
		return zone
	}
	if zones := e.Client.AvailabilityZones[e.Client.Region]; len(zones) > 0 {
		return zones[0]
	}
	return ""
}

// EurekaProxy is the HTTP proxy in front of the registries; none without a Host.
type EurekaProxy struct {
	Host           string
	Port           int
	User, Password string
}

// EurekaTLS is eureka.client.tls.*; the files hold PEM.
type EurekaTLS struct {
	Enabled                 bool
	TrustCertificate        string // file of authorities; empty means the system's
	Certificate, PrivateKey string // files of the client's certificate and key
}

// EurekaInstance is eureka.instance.*: how the gateway presents itself. Empty fields
// are found out at the start.
type EurekaInstance struct {
	AppName, AppGroup          string
	InstanceID                 string
	HostName, IPAddress        string
	PreferIPAddress            bool
	Port                       int // 0 means that of the proxy
	PortEnabled                bool
	SecurePort                 int
	SecurePortEnabled          bool
	VirtualHostName            string
	SecureVirtualHostName      string
	RenewalInterval            time.Duration
	LeaseDuration              time.Duration
	Metadata                   map[string]string
	HomePagePath, HomePage     string
	StatusPagePath, StatusPage string
	HealthPath, Health         string
	SecureHealth               string
	ASGName                    string
	InitialStatus              string
}
