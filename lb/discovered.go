package lb

import (
	"errors"
	"fmt"

	"github.com/gozer-gateway/gozer/discovery"
)

// ServersFrom makes servers of a service's instances. Instances that cannot be called,
// for want of a valid host or port, are left out and named in the error; the others stand.
func ServersFrom(instances []discovery.Instance) ([]Server, error) {
	servers := make([]Server, 0, len(instances))
	var errs []error
	for _, i := range instances {
		s := Server{
			ID: i.ID, Host: i.Host, Port: i.Port,
			Scheme: i.Scheme, Secure: i.Secure, Zone: i.Zone, Metadata: i.Metadata,
		}
		if s.Zone == "" {
			s.Zone = UnknownZone
		}
		if err := s.checkAddress(); err != nil {
			errs = append(errs, fmt.Errorf("lb: instance %q of service %q at %q port %d: %w", i.ID, i.Service, i.Host, i.Port, err))
			continue
		}
		servers = append(servers, s)
	}
	return servers, errors.Join(errs...)
}

// Instances is the way back: what a discovery source reports for servers that the
// configuration lists for a service.
func Instances(service string, servers []Server) []discovery.Instance {
	instances := make([]discovery.Instance, len(servers))
	for i := range servers {
		s := &servers[i]
		instances[i] = discovery.Instance{
			ID: s.id(), Service: service, Host: s.Host, Port: s.Port,
			Scheme: s.Scheme, Secure: s.Secure, Zone: s.Zone, Metadata: s.Metadata,
		}
	}
	return instances
}
