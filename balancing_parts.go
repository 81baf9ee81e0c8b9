package gozer

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/lb"
)

// parts are what a configuration chooses by class names.
type parts struct {
	class    lb.BalancerClass
	newRule  func() lb.Rule
	zonesOff bool
	list     lb.ServerList
	filter   lb.ListFilter
	updater  lb.ListUpdater
	ping     func(http.RoundTripper, lb.SecurePolicy) lb.Ping
	retries  lb.RetryHandler
}

func (g *Gateway) parts(cfg *config.Config, id string, r config.Ribbon) (p parts, err error) {
	b := r.Balancing
	var problems [7]error
	problem := func(key string, class config.Class, known []string) error {
		return unknownClass(cfg, id+".ribbon."+key, "ribbon."+key, class, known)
	}
	if p.newRule = g.rule(b); p.newRule == nil {
		problems[0] = problem("NFLoadBalancerRuleClassName", b.Rule, slices.Concat(lb.RuleNames(), names(g.options.rules)))
	}
	if p.ping = g.ping(b); p.ping == nil {
		problems[1] = problem("NFLoadBalancerPingClassName", b.Ping, slices.Concat(pingNames(), names(g.options.pings)))
	}
	if p.filter = g.listFilter(cfg, b); p.filter == nil {
		problems[2] = problem("NIWSServerListFilterClassName", b.Filter, slices.Concat(filterNames(), names(g.options.listFilters)))
	}
	if p.list = g.serverList(cfg, id, r); p.list == nil {
		problems[3] = problem("NIWSServerListClassName", b.List, slices.Concat(listNames(), names(g.options.serverLists)))
	}
	var known bool
	if p.class, known = balancerClass(b.Balancer.Name); !known {
		problems[4] = problem("NFLoadBalancerClassName", b.Balancer, balancerNames())
	}
	if p.updater, known = g.updater(cfg, b); !known {
		problems[5] = problem("ServerListUpdaterClassName", b.Updater, updaterNames())
	}
	if p.retries, known = g.retryHandler(r.Retry.Handler.Name); !known {
		known := slices.Concat(retryHandlers(), names(g.options.retryHandlers))
		problems[6] = unknownClass(cfg, "gateway.retry."+id+".handler", "gateway.retry.default.handler", r.Retry.Handler, known)
	}
	if p.class == lb.ZoneAware && !cfg.Balancers.ZoneAware {
		p.class = lb.Dynamic
	}
	p.zonesOff = !cfg.Balancers.ZoneAvoidance && p.class != lb.ZoneAware
	return p, errors.Join(problems[:]...)
}

// short is a Java class name without its package.
func short(class string) string { return class[strings.LastIndexAny(class, ".$")+1:] }

// given finds what was given in Go under the name of a class, in full or short.
func given[T any](parts map[string]T, class string) (part T, ok bool) {
	if part, ok = parts[class]; !ok {
		part, ok = parts[short(class)]
	}
	return part, ok
}

// rule finds what makes a rule, nil for an unknown name.
func (g *Gateway) rule(b config.Balancing) func() lb.Rule {
	if own, ok := given(g.options.rules, b.Rule.Name); ok && own != nil {
		return own
	}
	return lb.NewRule(b.Rule.Name, lb.RuleSettings{Decay: b.Decay, BoundFactor: orNever(b.Hash.Bound), WeightKey: b.WeightKey})
}

func pingNames() []string {
	return []string{"DummyPing", "NoOpPing", "PingConstant", "PingUrl", "NIWSDiscoveryPing"}
}

// ping finds what makes a ping, nil for an unknown name.
func (g *Gateway) ping(b config.Balancing) func(http.RoundTripper, lb.SecurePolicy) lb.Ping {
	always := func(p lb.Ping) func(http.RoundTripper, lb.SecurePolicy) lb.Ping {
		return func(http.RoundTripper, lb.SecurePolicy) lb.Ping { return p }
	}
	if own, ok := given(g.options.pings, b.Ping.Name); ok && own != nil {
		return always(own)
	}
	switch short(b.Ping.Name) {
	case "DummyPing":
		return always(lb.DummyPing{})
	case "NoOpPing":
		return always(lb.NoOpPing{})
	case "PingConstant":
		return always(lb.PingConstant(true))
	case "NIWSDiscoveryPing":
		return always(lb.DiscoveryPing{Up: func(string) (up, known bool) { return false, false }})
	case "PingUrl":
		return func(transport http.RoundTripper, secure lb.SecurePolicy) lb.Ping {
			return &lb.PingURL{Transport: transport, Secure: secure, Path: b.PingPath, Expected: b.PingBody}
		}
	}
	return nil
}

func filterNames() []string {
	return []string{"ZonePreferenceServerListFilter", "ZoneAffinityServerListFilter", "DefaultNIWSServerListFilter", "ServerListSubsetFilter"}
}

// listFilter makes the filter, nil for an unknown name.
func (g *Gateway) listFilter(cfg *config.Config, b config.Balancing) lb.ListFilter {
	if own, ok := given(g.options.listFilters, b.Filter.Name); ok && own != nil {
		return own()
	}
	affinity := lb.ZoneAffinityFilter{
		Zone: cfg.Balancers.Zone, Affinity: b.Affinity.Prefer, Exclusive: b.Affinity.Exclusive,
		MaxLoad: orNever(b.Affinity.MaxLoad), MaxBlackout: orNever(b.Affinity.MaxBlackout), MinAvailable: orNever(b.Affinity.MinAvailable),
	}
	switch short(b.Filter.Name) {
	case "ZonePreferenceServerListFilter":
		return &lb.ZonePreferenceFilter{ZoneAffinityFilter: affinity}
	case "ZoneAffinityServerListFilter", "DefaultNIWSServerListFilter":
		return &affinity
	case "ServerListSubsetFilter":
		return &lb.SubsetFilter{
			ZoneAffinityFilter: affinity, Size: b.Subset.Size, Eliminate: orNever(b.Subset.Eliminate),
			MaxFailures: int64(b.Subset.MaxFailures), MaxActive: int64(b.Subset.MaxActive),
			Interval: b.RefreshInterval / 2, // news from discovery are no reason to move on
		}
	}
	return nil
}

func listNames() []string {
	return []string{"ConfigurationBasedServerList", "StaticServerList", "DiscoveryEnabledNIWSServerList", "DomainExtractingServerList"}
}

// serverList makes the list, nil for an unknown name. Without a name it is listOfServers
// if that is set or discovery is not to be asked, else what discovery knows.
func (g *Gateway) serverList(cfg *config.Config, id string, r config.Ribbon) lb.ServerList {
	own := g.ownList(r.Balancing)
	switch name := short(r.Balancing.List.Name); {
	case own != nil && id == "": // of all services: the name is known
		return lb.StaticServerList(nil)
	case own != nil:
		return own(id)
	case name == "" && (len(r.Servers) > 0 || !cfg.Balancers.Discover), name == "ConfigurationBasedServerList", name == "StaticServerList":
		return lb.StaticServerList(listedServers(r))
	case name == "", name == "DiscoveryEnabledNIWSServerList", name == "DomainExtractingServerList":
		return g.discoveredList(cfg, id, r)
	}
	return nil
}

// ownList finds what makes the list that was given in Go, nil for any other.
func (g *Gateway) ownList(b config.Balancing) func(service string) lb.ServerList {
	own, _ := given(g.options.serverLists, b.List.Name)
	return own
}

func (g *Gateway) discoveredList(cfg *config.Config, id string, r config.Ribbon) lb.ServerList {
	d := r.Balancing.Discovery
	list := &lb.DiscoveryEnabledServerList{
		Instances: func(vip string) []discovery.Instance { return g.hub.Instances(vip) },
		VIPs:      d.VIPs, Union: !d.Prioritize, Secure: r.Secure, ZoneFromHost: cfg.Balancers.ApproximateZone,
	}
	if len(list.VIPs) == 0 {
		list.VIPs = []string{id}
	}
	if d.UseIP {
		list.Address = func(i discovery.Instance) string { return i.IP }
	}
	if d.ForcePort {
		list.Port, list.SecurePort = d.Port, d.SecurePort
	}
	return list
}

func balancerNames() []string {
	return []string{"ZoneAwareLoadBalancer", "DynamicServerListLoadBalancer", "BaseLoadBalancer", "NoOpLoadBalancer"}
}

func balancerClass(name string) (lb.BalancerClass, bool) {
	switch short(name) {
	case "ZoneAwareLoadBalancer":
		return lb.ZoneAware, true
	case "DynamicServerListLoadBalancer", "BaseLoadBalancer":
		return lb.Dynamic, true
	case "NoOpLoadBalancer":
		return lb.NoOp, true
	}
	return lb.Dynamic, false
}

func updaterNames() []string {
	return []string{"PollingServerListUpdater", "EurekaNotificationServerListUpdater"}
}

// updater applies the filter, and reads a list given in Go, at intervals if that can make
// a difference. What discovery learns is applied at once in any case.
func (g *Gateway) updater(cfg *config.Config, b config.Balancing) (u lb.ListUpdater, known bool) {
	if !slices.Contains(updaterNames(), short(b.Updater.Name)) {
		return nil, false
	}
	stays := cfg.Balancers.Zone == "" && short(b.Filter.Name) != "ServerListSubsetFilter" && g.ownList(b) == nil
	if short(b.Updater.Name) == "EurekaNotificationServerListUpdater" || stays {
		return nil, true
	}
	return lb.PollingUpdater{Delay: b.RefreshInterval, Interval: b.RefreshInterval}, true
}

func retryHandlers() []string {
	return []string{config.RetryAny, config.RetryDefault, config.RetryHTTP, config.RetryConnect}
}

// retryHandler finds a handler; that of "any" is none.
func (g *Gateway) retryHandler(name string) (h lb.RetryHandler, known bool) {
	if own, ok := given(g.options.retryHandlers, name); ok {
		return own, true
	}
	switch strings.ToLower(name) {
	case config.RetryAny:
		return nil, true
	case config.RetryDefault:
		return lb.DefaultRetryHandler{}, true
	case config.RetryHTTP:
		return lb.HTTPRetryHandler{}, true
	case config.RetryConnect:
		return lb.RequestSpecificRetryHandler{ConnectErrors: true}, true
	}
	return nil, false
}

func names[T any](of map[string]T) []string {
	all := make([]string, 0, len(of))
	for name := range of {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// unknownClass is the error about a class name, which stands under the key of a service
// or that of all.
func unknownClass(cfg *config.Config, own, all string, class config.Class, known []string) error {
	name := own
	if class.At == cfg.Place(all) {
		name = all
	}
	message := fmt.Sprintf("%q is not known", class.Name)
	if near := config.Nearest(short(class.Name), known); near != "" {
		message += "; did you mean " + near + "?"
	} else {
		message += "; there are " + strings.Join(known, ", ")
	}
	return misfit(name, class.At, errors.New(message))
}
