package config

import "github.com/gozer-gateway/gozer/internal/hostport"

// setServers reads listOfServers. An entry has no path, since a request's own path is
// sent.
func setServers(r *Ribbon, v *node) error {
	entries, err := listOf(v)
	if err != nil {
		return err
	}
	servers := make([]Instance, len(entries))
	for i, e := range entries {
		address, err := hostport.Parse(e.text)
		if err != nil {
			return fault(e, "%s", err)
		}
		servers[i] = Instance(address)
	}
	r.Servers = servers
	return nil
}
