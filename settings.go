package gozer

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/routing"
)

// The functions of this file translate the configuration into the settings of
// the packages that do the work; no other package sees both.

func routingSettings(cfg *config.Config) (routing.Settings, error) {
	z := cfg.Zuul
	s := routing.Settings{
		Prefix:             z.Prefix,
		StripPrefix:        z.StripPrefix,
		Retryable:          z.Retryable,
		IgnoredPatterns:    z.IgnoredPatterns,
		IgnoredServices:    z.IgnoredServices,
		IgnoreLocalService: z.IgnoreLocalService,
		LocalService:       localService(cfg),
	}
	for _, r := range z.Routes {
		s.Routes = append(s.Routes, routeSettings(r))
	}
	m := cfg.Gateway.Mapper
	if m.ServicePattern == "" {
		return s, nil
	}
	mapper, err := routing.NewPatternServiceRouteMapper(m.ServicePattern, m.RoutePattern)
	if err != nil {
		const key = "gateway.service-route-mapper.route-pattern"
		return s, misfit(key, cfg.Place(key), err)
	}
	s.Mapper = mapper
	return s, nil
}

// localService is the gateway's own name as discovery knows it.
func localService(cfg *config.Config) string {
	if cfg.Eureka.Client.Active() {
		return strings.ToLower(ownName(cfg))
	}
	return cfg.Application.Name
}

func routeSettings(r config.Route) routing.RouteSettings {
	s := routing.RouteSettings{
		Key: r.Key, ID: r.ID, Path: r.Path, ServiceID: r.Location,
		StripPrefix:            &r.StripPrefix,
		Retryable:              r.Retryable,
		CustomSensitiveHeaders: r.CustomSensitiveHeaders,
	}
	if r.CustomSensitiveHeaders {
		s.SensitiveHeaders = &r.SensitiveHeaders
	}
	return s
}

func pathOptions(cfg *config.Config) routing.PathOptions {
	return routing.PathOptions{
		RemoveSemicolon: cfg.Zuul.RemoveSemicolonContent,
		Reencode:        cfg.Zuul.DecodeURL != nil && *cfg.Zuul.DecodeURL,
	}
}

// urlPool are the settings of the connections of URL routes (zuul.host.*).
func urlPool(cfg *config.Config) http1.TransportSettings {
	h := cfg.Zuul.Host
	return http1.TransportSettings{
		ConnectTimeout: orDay(h.ConnectTimeout),
		ReadTimeout:    orDay(h.SocketTimeout),
		AcquireTimeout: h.ConnectionRequestTimeout,
		MaxTotal:       h.MaxTotalConnections,
		MaxPerHost:     h.MaxPerRouteConnections,
		MaxLifetime:    h.TimeToLive,
	}
}

// orDay puts an end to what the configuration leaves without one.
func orDay(d time.Duration) time.Duration {
	if d == 0 {
		return 24 * time.Hour
	}
	return d
}

// servicePool are the settings of the connections of one service (ribbon.*).
func servicePool(r config.Ribbon) http1.TransportSettings {
	return http1.TransportSettings{
		ConnectTimeout: r.ConnectTimeout,
		ReadTimeout:    r.ReadTimeout,
		AcquireTimeout: r.AcquireTimeout,
		MaxTotal:       r.MaxTotalConnections,
		MaxPerHost:     r.MaxConnectionsPerHost,
		IdleTimeout:    r.IdleTimeout,
		MaxLifetime:    r.PoolKeepAlive,
	}
}

func retryPolicy(cfg *config.Config, r config.Ribbon, handler lb.RetryHandler) lb.RetryPolicy {
	return lb.RetryPolicy{
		MaxSame:         r.MaxAutoRetries,
		MaxNext:         r.MaxAutoRetriesNextServer,
		AllOperations:   r.OkToRetryOnAllOperations,
		StatusCodes:     r.RetryableStatusCodes,
		ThrottledStatus: r.Retry.ThrottledStatus,
		Backoff:         lb.Backoff{Interval: r.BackoffInterval, Max: r.Retry.MaxBackoff},
		TurnedAway:      endsWith(r.Retry.Codes),
		Handler:         handler,
		MaxReplayBytes:  cfg.Gateway.Limits.MaxReplayBody,
	}
}

func budgetSettings(r config.Ribbon) lb.BudgetSettings {
	return lb.BudgetSettings{
		Percent: r.Retry.BudgetPercent, PerSecond: r.Retry.BudgetPerSecond, Burst: r.Retry.BudgetBurst,
		Off: !r.Retry.Budget,
	}
}

// listeners are those that the service has not switched off.
func listeners(all []lb.ExecutionListener, r config.Ribbon) []lb.ExecutionListener {
	var on []lb.ExecutionListener
	for _, l := range all {
		if l.Name == "" || !r.ListenersOff[strings.ToLower(l.Name)] {
			on = append(on, l)
		}
	}
	return on
}

// listedServers are the ones that listOfServers names.
func listedServers(r config.Ribbon) []lb.Server {
	list := make([]lb.Server, 0, len(r.Servers))
	for _, i := range r.Servers {
		list = append(list, lb.Server{Scheme: i.Scheme, Host: i.Host, Port: i.Port})
	}
	return list
}

// fallbacks are the static answers of the configuration; those given in Go
// come after and win.
func fallbacks(cfg *config.Config, inGo []serviceFallback) (*fallback.Registry, error) {
	var entries []fallback.Entry
	var problems []error
	for service, f := range cfg.Gateway.Fallback {
		static := &fallback.Static{Status: f.Status, Header: http.Header{}, Body: []byte(f.Body)}
		for name, value := range f.Headers {
			static.Header.Set(name, value)
		}
		if err := static.Validate(); err != nil {
			problems = append(problems, misfit("gateway.fallback."+service, f.Position, err))
		}
		entries = append(entries, fallback.Entry{Service: service, Provider: static})
	}
	for _, f := range inGo {
		entries = append(entries, fallback.Entry{Service: f.service, Provider: f.provider})
	}
	return fallback.NewRegistry(entries...), errors.Join(problems...)
}

// misfit is an error about a setting that its own check could not see.
func misfit(key string, at config.Position, err error) error {
	message := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "fallback: "), "routing: ")
	return &config.SettingsError{Findings: []config.Finding{{Severity: config.Error, Key: key, Position: at, Message: message}}}
}

// serviceIDs lists every service that can be asked for: those with settings,
// those that routes name and those that were discovered.
func serviceIDs(s *snapshot) []string {
	ids := slices.Clone(s.discovered)
	for id := range s.config.Services {
		ids = append(ids, id)
	}
	for _, r := range s.table.Routes() {
		if r.Kind == routing.KindService {
			ids = append(ids, r.ServiceID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
