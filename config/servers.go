package config

import "github.com/gozer-gateway/gozer/internal/hostport"

// setServers reads listOfServers. An entry has no path, since a request's own path is
// sent.
func setServers(r *Ribbon, v *node) error {
	servers, err := each(v, instanceOf)
	if err == nil {
		r.Servers = servers
	}
	return err
}

func instanceOf(v *node) (Instance, error) {
	address, err := hostport.Parse(v.text)
	if err != nil {
		return Instance{}, fault(v, "%s", err)
	}
	return Instance(address), nil
}
