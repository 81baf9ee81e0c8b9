package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// builder turns the settings of a loader into a Config.
type builder struct {
	*loader
	config *Config
	drafts []draft        // in the order in which the routes first came
	routes map[string]int // index in drafts by key
	info   *node
	// sections are the findings about unknown sections, each made once.
	sections map[Finding]bool
}

func newBuilder(l *loader) *builder {
	return &builder{
		loader:   l,
		routes:   map[string]int{},
		info:     &node{kind: table},
		sections: map[Finding]bool{},
		config: &Config{
			Services:   map[string]*Ribbon{},
			LogLevels:  map[string]string{rootLogger: "INFO"},
			Management: Management{Metrics: Metrics{Enable: map[string]bool{}}},
			Info:       map[string]any{},
			Zuul:       Zuul{SemaphoreByService: map[string]int{}},
			Hystrix:    Hystrix{Commands: map[string]*Command{}, ThreadPools: map[string]*ThreadPool{}},
			Gateway:    Gateway{Fallback: map[string]*Fallback{}, Resilience: Resiliences{Commands: map[string]*Resilience{}}, TLS: UpstreamTLSs{Own: map[string]*UpstreamTLS{}}, Upstream: Upstreams{Own: map[string]*Upstream{}}},
			Registry: Registry{
				Users:   map[string]*RegistryUser{},
				Regions: RegistryRegions{URLs: map[string]string{}, Whitelist: map[string][]string{}},
			},
			Eureka: Eureka{
				Client:   EurekaClient{ServiceURLs: map[string][]string{}, AvailabilityZones: map[string][]string{}},
				Instance: EurekaInstance{Metadata: map[string]string{}},
			},
			filters: map[string]*FilterSettings{},
			places:  map[string]origin{},
		},
	}
}

// decode puts every setting where it belongs. General sections come before the entries
// that are completed from them; within that, later sources come later.
func (b *builder) decode() {
	expander := newExpander(b.loader)
	for _, s := range b.defaults() { // also under keys whose value turns out to be wrong
		b.apply(s, expander)
	}
	effective := b.effective()
	for _, s := range effective {
		b.place(s, b.apply(s, expander))
	}
	for _, s := range effective {
		b.judge(s)
	}
}

func (b *builder) effective() []*setting {
	settings := make([]*setting, 0, len(b.store.order))
	for _, id := range b.store.order {
		s := b.store.get(id)
		settings = append(settings, s)
		if s.key != nil && strings.HasPrefix(s.key.Name, "zuul.routes.<id>") {
			b.route(s.values[0])
		}
	}
	slices.SortStableFunc(settings, func(a, b *setting) int {
		return cmp.Or(a.generality()-b.generality(), cmp.Compare(a.rank, b.rank))
	})
	return settings
}

func (s *setting) generality() int {
	switch {
	case len(s.values) == 0, s.values[0] == defaultKey && hasDefaultEntry(s.key.Name), strings.HasPrefix(s.key.Name, "ribbon."),
		s.values[0] == everyUpstream && (strings.HasPrefix(s.key.Name, tlsPrefix) || strings.HasPrefix(s.key.Name, upstreamPrefix)):
		return 0
	}
	return 1
}

// hasDefaultEntry tells whether the entry "default" of a section stands for all others.
func hasDefaultEntry(name string) bool {
	for _, section := range []string{"hystrix.", "niws.", "ZoneAwareNIWSDiscoveryLoadBalancer.", "gateway.load-balancing.", "gateway.retry.", "gateway.resilience."} {
		if strings.HasPrefix(name, section) {
			return true
		}
	}
	return false
}

// apply returns the value without placeholders, as far as it has one.
func (b *builder) apply(s *setting, e *expander) *node {
	switch {
	case s.key == nil:
		return s.value
	case s.key.set == nil:
		value, _ := e.node(s.value, s.name()) // notes what it refers to; what is wrong with it does not matter
		return value
	}
	value := s.value
	var err error
	if !s.key.verbatim {
		value, err = e.node(s.value, s.name())
	}
	if err == nil {
		err = s.key.set(b, s.values, value)
	}
	if err != nil {
		b.complain(s, err)
	}
	return value
}

// complain reports each of the joined errors. A deviation has its own severity, an
// entry of a list its own place.
func (b *builder) complain(s *setting, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			b.complain(s, e)
		}
		return
	}
	severity := Error
	if d, ok := errors.AsType[deviation](err); ok && d.status != Refused {
		severity = Warning
	}
	at := s.value.at
	if entry, ok := errors.AsType[entryError](err); ok {
		at = entry.at
	}
	b.report.Add(Finding{severity, s.name(), at, err.Error()})
	if severity == Error && strings.HasPrefix(s.key.Name, "zuul.routes.<id>") {
		b.route(s.values[0]).broken = true
	}
}

// route finds the draft of a route, or begins it.
func (b *builder) route(key string) *draft {
	i, ok := b.routes[key]
	if !ok {
		i = len(b.drafts)
		b.routes[key] = i
		b.drafts = append(b.drafts, draft{Route: Route{Key: key, StripPrefix: true}})
	}
	return &b.drafts[i]
}

func (b *builder) filter(name string, settings *node) {
	f, ok := b.config.filters[name]
	if !ok {
		f = &FilterSettings{Name: name, Position: settings.at, settings: settings}
		b.config.filters[name] = f
		return
	}
	f.settings = f.settings.merged(settings)
}

// setting finds the setting of a key, unless it is a default.
func (b *builder) setting(name string) *setting {
	s := b.lookup(name)
	if s == nil || s.places == nil {
		return nil
	}
	return s
}

// firstOf finds the first of the keys that is set.
func (b *builder) firstOf(names ...string) *setting {
	for _, name := range names {
		if s := b.setting(name); s != nil {
			return s
		}
	}
	return nil
}
