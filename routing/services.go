package routing

import "strings"

// addDiscovered appends a route for every service that is neither ignored nor shadowed by the path of another route.
func (b *builder) addDiscovered(services []string) {
	ignored := b.ignoredServices()
	for _, service := range services {
		if service == "" || ignored.match(service) {
			continue
		}
		b.addService(service)
	}
}

func (b *builder) addService(service string) {
	path := service
	if b.settings.Mapper != nil {
		path = b.settings.Mapper.Apply(service)
	}
	id := strings.Join(splitSegments(path), "/")
	if id == "" || strings.ContainsAny(id, "*?{}") {
		b.report("", false, "service %q gets no route: its path would be %q", service, path)
		return
	}
	s := RouteSettings{Key: id, ServiceID: service}.withDefaults()
	e, err := b.entry(s)
	if err != nil || e.route.Kind != KindService {
		b.report("", false, "service %q gets no route: its id is not usable", service)
		return
	}
	e.route.Discovered = true
	if _, taken := b.byPath[e.route.Path]; !taken {
		b.append(e)
	}
}

// serviceNames are globs of service ids in lower case.
type serviceNames []string

func (b *builder) ignoredServices() serviceNames {
	var names serviceNames
	for _, text := range b.settings.IgnoredServices {
		name := strings.ToLower(strings.Trim(text, " \t\"'"))
		if strings.ContainsAny(name, " \t\"',?;/") {
			b.report("", false, "ignored service %q: no service id looks like this", text)
		}
		names = append(names, name)
	}
	if b.settings.IgnoreLocalService && b.settings.LocalService != "" {
		names = append(names, strings.ToLower(b.settings.LocalService))
	}
	return names
}

func (n serviceNames) match(service string) bool {
	service = strings.ToLower(service)
	for _, name := range n {
		if matchGlob(name, service) {
			return true
		}
	}
	return false
}
