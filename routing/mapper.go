package routing

import (
	"fmt"
	"regexp"
	"strings"
)

// ServiceRouteMapper turns the id of a discovered service into the path of its route, such as "v1/users" for "users-v1".
// [Build] calls it, from one goroutine.
type ServiceRouteMapper interface {
	Apply(service string) string
}

// PatternServiceRouteMapper maps service ids with a regular expression. [NewPatternServiceRouteMapper] makes one.
type PatternServiceRouteMapper struct {
	service *regexp.Regexp
	route   string
}

var _ ServiceRouteMapper = (*PatternServiceRouteMapper)(nil)

var groupReference = regexp.MustCompile(`\$\{([^}]*)\}`)

// NewPatternServiceRouteMapper returns a mapper that replaces the first match of servicePattern in a service id by routePattern,
// in which "${name}" stands for the group "(?<name>…)" or "(?P<name>…)" and for nothing if that group did not take part.
// It fails when servicePattern is no regular expression of Go, or when routePattern names a group that is not there.
func NewPatternServiceRouteMapper(servicePattern, routePattern string) (*PatternServiceRouteMapper, error) {
	service, err := regexp.Compile(servicePattern)
	if err != nil {
		return nil, fmt.Errorf("routing: service pattern %q: %w", servicePattern, err)
	}
	for _, group := range groupReference.FindAllStringSubmatch(routePattern, -1) {
		if service.SubexpIndex(group[1]) < 0 {
			return nil, fmt.Errorf("routing: route pattern %q: no group %q in %q", routePattern, group[1], servicePattern)
		}
	}
	if strings.ContainsAny(groupReference.ReplaceAllString(routePattern, ""), `$\`) {
		return nil, fmt.Errorf("routing: route pattern %q: groups are written ${name}", routePattern)
	}
	return &PatternServiceRouteMapper{service: service, route: routePattern}, nil
}

// Apply returns the path without slashes at its ends or doubled ones, and service itself when nothing matches or nothing is left.
func (m *PatternServiceRouteMapper) Apply(service string) string {
	at := m.service.FindStringSubmatchIndex(service)
	if at == nil {
		return service
	}
	replacement := groupReference.ReplaceAllStringFunc(m.route, func(reference string) string {
		group := m.service.SubexpIndex(reference[2 : len(reference)-1])
		if at[2*group] < 0 {
			return ""
		}
		return service[at[2*group]:at[2*group+1]]
	})
	parts := splitSegments(service[:at[0]] + replacement + service[at[1]:])
	if len(parts) == 0 {
		return service
	}
	return strings.Join(parts, "/")
}
