package fallback

// Default is the service id under which a provider for all services without
// one of their own is entered.
const Default = "*"

// Entry gives a service its provider.
type Entry struct {
	Service  string // exact service id; Default or "" for all others
	Provider Provider
}

// Registry finds the provider of a service. It is immutable and safe for
// concurrent use; a nil Registry has no providers.
type Registry struct {
	exact    map[string]Provider
	fallback Provider
}

// NewRegistry enters the providers in order. Of several entries for one
// service, and of several defaults, the last one wins.
func NewRegistry(entries ...Entry) *Registry {
	r := &Registry{exact: make(map[string]Provider, len(entries))}
	for _, e := range entries {
		if e.Service == Default || e.Service == "" {
			r.fallback = e.Provider
			continue
		}
		r.exact[e.Service] = e.Provider
	}
	return r
}

// Provider returns the provider entered for exactly this service id, else the
// default one, else nil.
func (r *Registry) Provider(service string) Provider {
	if r == nil {
		return nil
	}
	if p, ok := r.exact[service]; ok {
		return p
	}
	return r.fallback
}
