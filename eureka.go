package gozer

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// farewell is how long a registry may take to hear that the gateway leaves.
const farewell = 3 * time.Second

// registries are the settings of the way to the registries (eureka.client.*).
func registries(cfg *config.Config, o options, files *registryFiles) eureka.ServerSettings {
	c := cfg.Eureka.Client
	host, _ := ownAddress(cfg)
	return eureka.ServerSettings{
		ServiceURLs:       c.ServiceURLs,
		Region:            c.Region,
		AvailabilityZones: c.AvailabilityZones,
		OtherZonesFirst:   !c.PreferSameZone,
		Seed:              net.JoinHostPort(host, strconv.Itoa(cfg.Server.Port)),
		ConnectTimeout:    c.ConnectTimeout,
		ReadTimeout:       c.ReadTimeout,
		IdleTimeout:       c.IdleTimeout,
		MaxConnections:    c.MaxPerHost,
		NoCompression:     !c.Gzip,
		AllowRedirects:    c.AllowRedirects,
		Compact:           c.DataAccept == "compact",
		TLS:               files.Config,
		Proxy:             registryProxy(c.Proxy),
		ReconnectInterval: c.ReconnectInterval,
		QuarantineShare:   c.QuarantineShare,
		Dial:              o.dialRegistry,
		Logger:            o.logger,
	}
}

func registryProxy(p config.EurekaProxy) *url.URL {
	if p.Host == "" {
		return nil
	}
	u := &url.URL{Scheme: "http", Host: net.JoinHostPort(p.Host, strconv.Itoa(p.Port))}
	if p.User != "" {
		u.User = url.UserPassword(p.User, p.Password)
	}
	return u
}

// eurekaClient follows the registry's list; nil if that is not wanted.
func eurekaClient(cfg *config.Config, o options, files *registryFiles) (*eureka.Client, error) {
	c := cfg.Eureka.Client
	if !c.Active() || !c.Fetch {
		return nil, nil
	}
	return eureka.NewClient(eureka.ClientSettings{
		Servers:       registries(cfg, o, files),
		FetchInterval: c.FetchInterval,
		BackOffBound:  c.FetchBackOffBound,
		DisableDelta:  c.DisableDelta,
		SingleVIP:     c.SingleVIP,
		AllStatuses:   !c.OnlyUp,
		NoPush:        !c.Push,
		SnapshotFile:  c.SnapshotFile,
		KeepVanished:  c.KeepVanished,
	})
}

// registration keeps the gateway registered while it runs. A nil one does nothing.
type registration struct {
	*eureka.Registrar
	stays bool // in the registry when the gateway ends
	stop  context.CancelFunc
	ended chan struct{}
}

// register registers the gateway, which listens on servers, if that is wanted.
func (g *Gateway) register(servers []*server) *registration {
	c := g.config.Eureka.Client
	if !c.Active() || !c.Register {
		return nil
	}
	settings := eureka.RegistrarSettings{
		Servers:             registries(g.config, g.options, g.registries),
		Instance:            ownInstance(g.config, servers),
		BackOffBound:        c.RenewBackOffBound,
		ReplicationInterval: c.ReplicationInterval,
		ChangesWait:         !c.OnDemandUpdate,
		StayRegistered:      !c.Unregister,
	}
	if c.HealthCheck {
		settings.Health = g.registeredHealth
	}
	registrar, err := eureka.NewRegistrar(settings)
	if err != nil {
		g.options.logger.Error("eureka: not registered", "error", err)
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &registration{registrar, settings.StayRegistered, stop, make(chan struct{})}
	go func() {
		defer close(r.ended)
		_ = registrar.Run(ctx) // returns nil
	}()
	return r
}

// registeredHealth is the status that a readiness makes: DOWN when there is none, as
// Spring maps it (spec/eureka.md 3.5).
func (g *Gateway) registeredHealth(context.Context, eureka.Status) (eureka.Status, error) {
	if g.ready.Load() {
		return eureka.Up, nil
	}
	return eureka.Down, nil
}

// outOfService tells the registry that no more requests should come. It returns false if
// the registry has not heard it, or shall not.
func (r *registration) outOfService(g *Gateway) bool {
	if r == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if err := r.OutOfService(ctx); err != nil {
		g.options.logger.Warn("eureka: the registry was not told that the gateway goes out of service", "error", err)
		return false
	}
	return r.Registered() && !r.stays
}

// leave ends the heartbeats and leaves the lease to the successor.
func (r *registration) leave() {
	if r == nil {
		return
	}
	r.stop()
	<-r.ended
}

// end leaves the registry. It returns false if the registry has not heard it, or shall
// not.
func (r *registration) end(g *Gateway) bool {
	if r == nil {
		return false
	}
	r.stop()
	<-r.ended
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if err := r.Cancel(ctx); err != nil {
		g.options.logger.Warn("eureka: not cancelled, the lease will expire", "error", err)
		return false
	}
	return r.Registered() && !r.stays
}

// eurekaHealth is the part of the health endpoint about the registry's list. While
// there has never been one, or not for a while, the status is not UP, but that takes no
// gateway down: its other routes work, and the list it has is better than none.
func eurekaHealth(c *eureka.Client, interval time.Duration) admin.Component {
	state := c.State()
	part := admin.Component{Name: "eureka", Status: "UNKNOWN", Details: map[string]any{
		"instances": c.View().Len(), "applications": len(c.View().Names()), "pushed": state.Pushing,
	}}
	if !state.Fetched.IsZero() {
		part.Status = admin.Up
		age := time.Since(state.Fetched)
		part.Details["fetched"] = state.Fetched.UTC().Format(time.RFC3339)
		part.Details["age"] = age.Round(time.Second).String()
		if age > staleAfter*interval {
			part.Status = stale
		}
	}
	if state.Restored {
		part.Details["restored"] = true
	}
	if state.Trouble != "" {
		part.Details["error"] = state.Trouble
	}
	return part
}

// staleAfter is how many intervals may pass without a good answer of the registry.
const staleAfter = 3

// stale is a status for people, of a list that has not been confirmed for a while.
const stale = "STALE"

// ownName is the application's name under which the gateway registers.
func ownName(cfg *config.Config) string {
	if name := cfg.Eureka.Instance.AppName; name != "" {
		return name
	}
	if cfg.Place("spring.application.name") == (config.Position{}) {
		return "unknown"
	}
	return cmp.Or(cfg.Application.Name, "unknown")
}
