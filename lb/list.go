package lb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/gozer-gateway/gozer/discovery"
)

// ServerList knows the servers of a service.
type ServerList interface {
	// Servers reads the list. With an error the servers that could be read are used, unless
	// there are none: then the balancer keeps those it has. It may block until ctx ends.
	Servers(ctx context.Context) ([]Server, error)
}

// ServerListFunc makes a ServerList of a function.
type ServerListFunc func(ctx context.Context) ([]Server, error)

// Servers implements ServerList.
func (f ServerListFunc) Servers(ctx context.Context) ([]Server, error) { return f(ctx) }

// StaticServerList is a list that never changes.
type StaticServerList []Server

// Servers implements ServerList.
func (l StaticServerList) Servers(context.Context) ([]Server, error) { return l, nil }

// ConfigurationBasedServerList reads a text in the form of listOfServers anew each time;
// see ParseServers. An empty one is an empty list.
type ConfigurationBasedServerList func() string

// Servers implements ServerList.
func (l ConfigurationBasedServerList) Servers(context.Context) ([]Server, error) {
	return ParseServers(l())
}

// DiscoveryEnabledServerList makes servers of what discovery knows.
type DiscoveryEnabledServerList struct {
	// Instances finds the instances of one service or VIP address that are up.
	Instances func(vip string) []discovery.Instance
	// VIPs are the addresses to ask for (DeploymentContextBasedVipAddresses). Blanks around
	// one do not count.
	VIPs []string
	// Union takes the instances of all VIPs. Without it a VIP is only asked for if those
	// before it have none (PrioritizeVipAddressBasedServers).
	Union bool
	// Secure says what the client wants (IsSecure); nil leaves it to the instance, which
	// is called over TLS if it can be. With false an instance's port without TLS is taken.
	Secure *bool
	// Port and SecurePort, if not 0, replace the ports of instances without TLS and with it
	// (ForceClientPortConfiguration).
	Port, SecurePort int
	// Address chooses the address of an instance, such as the IP address instead of the
	// name (UseIPAddrForServer); nil or an empty result leaves its Host.
	Address func(discovery.Instance) string
	// ZoneFromHost takes what follows the first dot of the host as the zone of instances
	// that name none (approximateZoneFromHostname).
	ZoneFromHost bool
}

var _ ServerList = (*DiscoveryEnabledServerList)(nil)

// Servers implements ServerList. Instances that cannot be called are named in the error.
func (l *DiscoveryEnabledServerList) Servers(context.Context) ([]Server, error) {
	var all []Server
	var errs []error
	for _, vip := range l.VIPs {
		servers, err := ServersFrom(l.adjusted(l.Instances(strings.TrimSpace(vip))))
		all, errs = append(all, servers...), append(errs, err)
		if len(all) > 0 && !l.Union {
			break
		}
	}
	return all, errors.Join(errs...)
}

// adjusted returns the instances as this client sees them; the originals stay.
func (l *DiscoveryEnabledServerList) adjusted(instances []discovery.Instance) []discovery.Instance {
	seen := make([]discovery.Instance, len(instances))
	for i, instance := range instances {
		seen[i] = l.adjust(instance)
	}
	return seen
}

func (l *DiscoveryEnabledServerList) adjust(i discovery.Instance) discovery.Instance {
	if i.ID == "" {
		i.ID = fmt.Sprintf("%s:%d", i.Host, i.Port)
	}
	if i.Zone == "" && l.ZoneFromHost {
		i.Zone = ZoneOfHost(i.Host)
	}
	if l.Address != nil {
		if address := l.Address(i); address != "" {
			i.HostName, i.Host = nameOf(i.Host, address), address
		}
	}
	secure := i.Secure || i.Scheme == "https"
	if l.Secure != nil && !*l.Secure {
		secure = false
		if i.PlainPort != 0 {
			i.Port, i.Secure, i.Plain, i.Scheme = i.PlainPort, false, true, ""
		}
	}
	switch {
	case secure && l.SecurePort != 0:
		i.Port = l.SecurePort
	case !secure && l.Port != 0:
		i.Port = l.Port
	}
	return i
}

// nameOf is what host adds to the address: its name, if it is one.
func nameOf(host, address string) string {
	if host == address || net.ParseIP(host) != nil {
		return ""
	}
	return host
}

// ZoneOfHost is the part of a host name after its first dot, all of it without a dot.
// An IP address has no zone.
func ZoneOfHost(host string) string {
	if net.ParseIP(host) != nil {
		return ""
	}
	if _, domain, dotted := strings.Cut(host, "."); dotted {
		return domain
	}
	return host
}
