package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// check finds what no single setting shows.
func (b *builder) check() {
	b.placeFirst()
	b.checkPrefix()
	b.checkRetry()
	b.checkRoutes()
	b.checkEureka()
	b.checkServices()
	b.checkHystrix()
	b.checkTimeouts()
	b.checkResilience()
	b.checkTLS()
	b.checkUpstreams()
	b.checkPorts()
	b.checkTrust()
	b.checkSSL()
	b.checkMapper()
	b.checkRegistry()
	if info, ok := b.info.masked().plain().(map[string]any); ok {
		b.config.Info = info
	}
}

// placeFirst gives routes and fallbacks the place where they begin.
func (b *builder) placeFirst() {
	for _, id := range b.store.order {
		s := b.store.get(id)
		if s.key == nil || len(s.values) == 0 {
			continue
		}
		switch {
		case strings.HasPrefix(s.key.Name, "zuul.routes.<id>"):
			place(&b.route(s.values[0]).Position, s, 2)
		case strings.HasPrefix(s.key.Name, "gateway.fallback.<service>"):
			place(&fallback(b, s.values).Position, s, 2)
		}
	}
}

func place(at *Position, s *setting, segment int) {
	if *at == (Position{}) && segment < len(s.places) {
		*at = s.places[segment]
	}
}

func (b *builder) checkPrefix() {
	z := &b.config.Zuul
	s := b.setting("zuul.prefix")
	if s == nil || z.Prefix == "" {
		return
	}
	if strings.ContainsAny(z.Prefix, "*?{}") {
		b.report.errorf(s.name(), s.at, "must be a plain path, without wildcards")
		z.Prefix = "" // the routes are built nevertheless, for the sake of a complete report
		return
	}
	if !strings.HasPrefix(z.Prefix, "/") {
		b.report.warnf(s.name(), s.at, "has no leading slash; one is added")
	}
	z.Prefix = strings.TrimRight(rooted(z.Prefix), "/")
}

// ribbonsList reports a list that has what listOfServers and discovery say; one that was
// given in Go knows better.
func ribbonsList(class string) bool {
	switch class[strings.LastIndexAny(class, ".$")+1:] {
	case "", "ConfigurationBasedServerList", "StaticServerList", "DiscoveryEnabledNIWSServerList", "DomainExtractingServerList":
		return true
	}
	return false
}

// checkServices warns, once per service, that nobody can reach it.
func (b *builder) checkServices() {
	if c := &b.config.Eureka.Client; c.Active() && c.Fetch || b.config.Registry.Enabled {
		return // they may be found
	}
	for _, r := range b.serviceRoutes() {
		service := r.Location
		if ribbon := b.config.RibbonFor(service); len(ribbon.Servers) == 0 && ribbonsList(ribbon.Balancing.List.Name) {
			b.report.warnf(joinKey([]string{"zuul", "routes", r.Key}), r.Position,
				"service %s has no static servers; it needs discovery, or %s.ribbon.listOfServers", service, service)
		}
	}
}

// serviceRoutes gives the first route of each service.
func (b *builder) serviceRoutes() []Route {
	var first []Route
	seen := map[string]bool{}
	for i, r := range b.config.Zuul.Routes {
		if isURL(r.Location) || isForward(r.Location) || b.drafts[i].broken || seen[r.Location] {
			continue
		}
		seen[r.Location] = true
		first = append(first, r)
	}
	return first
}

// lowTimeout is a setting that leaves some services no time for every retry.
type lowTimeout struct {
	*setting
	budget   time.Duration
	services []string
}

// checkTimeouts warns when there is no time for every retry (zuul.md 6.3): once per
// setting that is too low, with the services it cuts short.
func (b *builder) checkTimeouts() {
	const suffix = ".execution.isolation.thread.timeoutInMilliseconds"
	var tooLow []*lowTimeout
	for _, r := range b.serviceRoutes() {
		budget, ribbon := b.config.TimeoutFor(r.Location)
		s := b.firstOf("hystrix.command."+r.Location+suffix, "hystrix.command."+defaultKey+suffix)
		if s == nil || budget >= ribbon || !b.config.HystrixFor(r.Location).TimeoutEnabled {
			continue
		}
		i := slices.IndexFunc(tooLow, func(low *lowTimeout) bool { return low.setting == s })
		if i < 0 {
			i = len(tooLow)
			tooLow = append(tooLow, &lowTimeout{setting: s, budget: budget})
		}
		tooLow[i].services = append(tooLow[i].services, r.Location+" ("+short(ribbon)+b.inTime(r.Location, budget)+")")
	}
	for _, low := range tooLow {
		b.report.warnf(low.name(), low.at, "the timeout of %s is less than the connects, reads and retries of %s may take",
			short(low.budget), handful("service", low.services))
	}
}

// inTime tells of retries that come too late to be of use.
func (b *builder) inTime(service string, budget time.Duration) string {
	ribbon := b.config.RibbonFor(service)
	_, all := ribbon.Attempts()
	if all == 1 {
		return ""
	}
	return fmt.Sprintf("; time for %d of %d attempts", ribbon.AttemptsWithin(budget), all)
}

// handful names the first few of many.
func handful(noun string, names []string) string {
	const most = 5
	switch rest := len(names) - most; {
	case len(names) == 1:
		return noun + " " + names[0]
	case rest <= 0:
		return noun + "s " + strings.Join(names, ", ")
	default:
		return fmt.Sprintf("%ss %s and %d more", noun, strings.Join(names[:most], ", "), rest)
	}
}

// short drops the zero units that Duration prints.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (b *builder) checkPorts() {
	proxy, management := b.config.Server.Port, b.config.Management.Port
	if s := b.firstOf("management.server.port", "server.port"); s != nil && proxy == management && proxy > 0 {
		b.report.errorf(s.name(), s.at, "the proxy and the management listener cannot share port %d", proxy)
	}
}

func (b *builder) checkMapper() {
	m := b.config.Gateway.Mapper
	s := b.firstOf("gateway.service-route-mapper.service-pattern", "gateway.service-route-mapper.route-pattern")
	if s != nil && (m.ServicePattern == "") != (m.RoutePattern == "") {
		b.report.errorf(s.name(), s.at, "needs both service-pattern and route-pattern")
	}
}
