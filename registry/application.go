package registry

import "slices"

// application is the leases of one name. The registry's mutex guards it.
type application struct {
	name    string
	leases  map[string]*lease // by identity
	order   []*lease          // as they first came
	version uint64            // of the registry, at the last visible change
}

func newApplication(name string) *application {
	return &application{name: name, leases: map[string]*lease{}}
}

// put adds a lease or puts it in the place of its predecessor.
func (a *application) put(l *lease) {
	if old := a.leases[l.id]; old != nil {
		a.order[slices.Index(a.order, old)] = l
	} else {
		a.order = append(a.order, l)
	}
	a.leases[l.id] = l
}

func (a *application) remove(l *lease) {
	delete(a.leases, l.id)
	i := slices.Index(a.order, l)
	a.order = slices.Delete(a.order, i, i+1)
}
