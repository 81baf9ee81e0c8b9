package gozer

import (
	"context"
	"crypto/tls"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/registry"
)

// embed makes the registry that eureka.server.enabled asks for.
func (g *Gateway) embed(cfg *config.Config) error {
	if !cfg.Registry.Enabled {
		return nil
	}
	r, err := registry.New(registrySettings(cfg, g.registries.Config, g.options.logger))
	if err != nil {
		return err
	}
	g.registry = r
	return nil
}

// ownRegistry is the source that asks the embedded registry, which New makes after
// the hub.
func (g *Gateway) ownRegistry() discovery.Source {
	return discovery.SourceFunc(func(ctx context.Context, updates chan<- discovery.Update) error {
		return g.registry.Source(eureka.DefaultZone).Run(ctx, updates)
	})
}

// registrySettings take what is needed to call peers from the client, as Spring does.
func registrySettings(cfg *config.Config, security func() *tls.Config, logger *slog.Logger) registry.Settings {
	c := cfg.Registry
	s := registry.DefaultSettings()
	s.Leases = leaseSettings(c)
	s.Cache = registry.CacheSettings{
		ReadOnly: c.Cache.ReadOnly, UpdateInterval: c.Cache.UpdateInterval, Expiration: c.Cache.Expiration, MaxEntries: c.Cache.MaxEntries,
		DisableDelta: c.Cache.DisableDelta, DeltaRetention: c.Cache.DeltaRetention, DeltaSweepInterval: c.Cache.DeltaSweepInterval,
	}
	s.Replication = registry.ReplicationSettings{
		MaxQueue: c.Replication.MaxQueue, MaxTime: c.Replication.MaxTime, Compress: c.Replication.Compress,
		ConnectTimeout: c.Replication.ConnectTimeout, ReadTimeout: c.Replication.ReadTimeout, IdleTimeout: c.Replication.IdleTimeout,
		SyncRetries: c.Replication.SyncRetries, SyncRetryWait: c.Replication.SyncRetryWait, SyncTimeout: s.Replication.SyncTimeout,
	}
	s.Regions = registry.RegionSettings{
		URLs: c.Regions.URLs, Whitelist: c.Regions.Whitelist, FetchInterval: c.Regions.FetchInterval, ReadTimeout: c.Regions.ReadTimeout,
		DisableDelta: c.Regions.DisableDelta, NoFallback: c.Regions.NoFallback,
	}
	s.RateLimit = registry.RateLimitSettings{
		Enabled: c.RateLimit.Enabled, ThrottleStandard: c.RateLimit.ThrottleStandard, PrivilegedClients: c.RateLimit.PrivilegedClients,
		Burst: c.RateLimit.Burst, AllPerSecond: c.RateLimit.AllPerSecond, FullPerSecond: c.RateLimit.FullPerSecond,
	}
	s.Limits.Applications, s.Limits.Instances = c.Limits.Applications, c.Limits.Instances
	s.Limits.Instance, s.Limits.Body, s.Limits.Batch = int(c.Limits.InstanceSize), c.Limits.BodySize, c.Limits.BatchSize
	s.Limits.Unsent = c.Limits.UnsentSize
	s.Limits.Subscribers, s.Limits.PushBacklog = c.Limits.Subscribers, c.Limits.PushBacklog
	s.Auth = registry.AuthSettings{Users: registryUsers(c), AnonymousRead: c.AnonymousRead}
	s.Peers = peerURLs(cfg)
	s.Self = self(cfg)
	s.TLS = security
	s.ContextPath, s.Dashboard, s.DashboardPath = c.ContextPath, c.Dashboard, c.DashboardPath
	s.Environment, s.DataCenter = c.Environment, c.DataCenter
	s.Logger = logger
	return s
}

func leaseSettings(c config.Registry) registry.LeaseSettings {
	s := registry.DefaultSettings().Leases
	s.SelfPreservation = c.SelfPreservation
	s.RenewalPercentThreshold = c.RenewalPercentThreshold
	s.ThresholdUpdateInterval = c.ThresholdUpdateInterval
	s.ClientRenewalInterval = c.ClientRenewalInterval
	s.EvictionInterval = c.EvictionInterval
	s.WaitWhenSyncEmpty = c.Replication.WaitWhenSyncEmpty
	s.SyncWhenTimestampDiffers = c.SyncWhenTimestampDiffers
	s.ExactExpiry = c.ExactLeaseExpiry
	s.ExpectedClients = c.OpenForTrafficCount
	s.ValidateDataCenterID = c.ValidateDataCenterID
	s.MinAvailablePeers = c.MinAvailablePeers
	return s
}

func registryUsers(c config.Registry) map[string]registry.User {
	users := map[string]registry.User{}
	if c.SpringPassword != "" {
		users[c.SpringUser] = registry.User{Password: c.SpringPassword, Administer: true}
	}
	for name, u := range c.Users {
		users[name] = registry.User{
			Password: u.Password, Token: u.Token, Certificate: u.Certificate,
			Applications: u.Applications, Replicate: u.Replicate, Administer: u.Administer,
		}
	}
	return users
}

// peerURLs are the service URLs of all zones that somebody has written. The one that
// clients assume is no peer: a registry elsewhere than at 8761 would wait for it.
func peerURLs(cfg *config.Config) []string {
	var urls []string
	client := cfg.Eureka.Client
	for _, zone := range slices.Sorted(maps.Keys(client.ServiceURLs)) {
		if zone != eureka.DefaultZone || !client.Assumed {
			urls = append(urls, client.ServiceURLs[zone]...)
		}
	}
	return urls
}

// self is what the service URL of this process's registry may look like.
func self(cfg *config.Config) registry.Self {
	c, own := cfg.Registry, cfg.Eureka.Instance
	s := registry.Self{MyURL: c.MyURL, Hosts: []string{"localhost"}, InstanceID: own.InstanceID}
	if c.ComparePorts {
		s.Port = c.Port
	}
	if name, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		s.Hosts = append(s.Hosts, name, short)
	}
	for _, host := range []string{c.Address, own.HostName, own.IPAddress} {
		if host != "" {
			s.Hosts = append(s.Hosts, host)
		}
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return s
	}
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok {
			s.Hosts = append(s.Hosts, network.IP.String())
		}
	}
	return s
}

// registryHealth is the part of the health endpoint about the embedded registry. While
// it fills up the gateway serves what it knows, so that takes no gateway down.
func registryHealth(r *registry.Registry) admin.Component {
	l := r.Status().Leases
	part := admin.Component{Name: "registry", Status: admin.Up, Details: map[string]any{
		"applications": l.Applications, "instances": l.Instances, "expired": l.Expired, "preserving": l.Preserving,
	}}
	if !l.Serving {
		part.Status = "UNKNOWN"
	}
	return part
}

// openRegistry opens the registry's listener. Over TLS the server is the standard library's.
func (g *Gateway) openRegistry(ctx context.Context) (*server, error) {
	return g.open(ctx, embedded, g.config.Registry.Address, g.config.Registry.Port, func(base context.Context) httpServer {
		if registrySecure(g.config) {
			return g.countFailures(g.secureServer(base, g.registry.Handler()), g.security.registry)
		}
		return g.engineServer(base, g.registry.Handler())
	})
}

// secureServer limits how long strangers may take, as the native engine does.
func (g *Gateway) secureServer(base context.Context, handler http.Handler) *http.Server {
	s := g.standardServer(base, handler)
	limits := g.config.Gateway.Limits
	s.ReadTimeout, s.WriteTimeout = limits.HeaderTimeout+limits.BodyTimeout, limits.WriteTimeout
	return s
}

// Registry returns the handler of the embedded registry, nil without one; Run serves
// it on eureka.server.port.
func (g *Gateway) Registry() http.Handler {
	if g.registry == nil {
		return nil
	}
	return g.registry.Handler()
}
