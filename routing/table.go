package routing

import "slices"

// Table holds the routes in the order in which they are tried. [Build] makes it; it is immutable and for any number of goroutines.
// The zero value has no routes.
type Table struct {
	routes  []*Route
	tree    *node
	ignored *node
}

// Match returns the first route whose full path fits p, and what goes upstream; false when there is none or when the path is ignored.
// The cost depends on the length of the path, not on the number of routes, except for routes that have nothing but wildcards behind a
// "**", or wildcards that begin alike, in the same place: these are tried one by one. It allocates only if a prefix has to be taken out
// of the middle of the path or if the path has more than 32 segments.
func (t *Table) Match(p Path) (Match, bool) {
	var buffer [32]string
	names, slash := splitPath(buffer[:0], p.Clean)
	if t.ignored.find(names, slash, none) != none {
		return Match{}, false
	}
	order := t.tree.find(names, slash, none)
	if order == none {
		return Match{}, false
	}
	route := t.routes[order]
	path, err := route.strip.apply(p.Raw)
	return Match{Route: route, Path: path, Err: err}, true
}

// Routes returns all routes in the order in which they are tried. The slice belongs to the caller, the routes do not.
func (t *Table) Routes() []*Route { return slices.Clone(t.routes) }
