package eureka

import (
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/discovery"
)

// converter turns views into what the hub wants, and applications that have not
// changed only once. One goroutine uses it.
type converter struct {
	zone string // of instances that name none
	done map[string]converted
}

type converted struct {
	from      *viewed
	instances []discovery.Instance
}

// update lists every application under its name in lower case, also when none of its
// instances is shown: then the service exists but has no servers.
func (c *converter) update(v *View) discovery.Update {
	update := make(discovery.Update, len(v.apps))
	done := make(map[string]converted, len(v.apps))
	for key, a := range v.apps {
		known := c.done[key]
		if known.from != a {
			known = converted{a, c.convert(v, a)}
		}
		done[key] = known
		update[strings.ToLower(key)] = known.instances
	}
	c.done = done
	return update
}

func (c *converter) convert(v *View, a *viewed) []discovery.Instance {
	instances := make([]discovery.Instance, 0, len(a.instances))
	for _, i := range a.instances {
		if v.shows(i) {
			instances = append(instances, c.instance(strings.ToLower(a.name), i))
		}
	}
	return instances
}

// instance prefers the secure port, as Spring does; whoever wants none of it finds the
// other in PlainPort.
func (c *converter) instance(service string, i *Instance) discovery.Instance {
	d := discovery.Instance{
		ID: i.Identity(), Service: service, Host: i.HostName, IP: i.IPAddr, Port: i.Port.Number,
		Zone: c.zoneOf(i), Metadata: i.Metadata, Aliases: aliases(service, i),
	}
	if d.Host == "" {
		d.Host = i.IPAddr
	}
	if i.SecurePort.Enabled {
		d.Port, d.Secure = i.SecurePort.Number, true
		if i.Port.Enabled {
			d.PlainPort = i.Port.Number
		}
	}
	d.Plain = !d.Secure
	return d
}

func (c *converter) zoneOf(i *Instance) string {
	if zone := i.Metadata["zone"]; zone != "" {
		return zone
	}
	if zone := i.DataCenter.Metadata[AmazonAvailabilityZone]; zone != "" && i.DataCenter.Amazon() {
		return zone
	}
	return c.zone
}

// aliases are the virtual addresses that differ from the name, in lower case.
func aliases(service string, i *Instance) []string {
	var names []string
	for _, list := range [...]string{i.VIPAddress, i.SecureVIPAddress} {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != service && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Update is the list as a client that shows what is UP gives it to its hub; zone is
// that of instances that name none.
func (a *Applications) Update(zone string) discovery.Update {
	c := converter{zone: zone}
	return c.update(newView(a, false))
}
