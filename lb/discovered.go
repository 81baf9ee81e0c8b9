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
			Scheme: i.Scheme, Secure: i.Secure, Plain: i.Plain, Name: i.HostName, Zone: i.Zone, Metadata: i.Metadata,
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
