// Package filters is what a filter author needs: the [Filter] interface, the
// [Context] of one request, and the [Chain] that runs filters phase by phase
// as zuul.md 1.2 lays down. The built-in filters live in the folders below.
package filters

// Filter does one thing to a request or its answer. One instance serves all
// requests, from many goroutines at once; what belongs to a request is kept in
// its Context.
type Filter interface {
	// ShouldFilter decides whether Run is called for this request. It must not
	// change c.
	ShouldFilter(c *Context) bool

	// Run does the work. An error skips the rest of the phase and starts the
	// error phase; use [Refuse] to choose the status the client gets. Run may
	// block, but must return when c.Request.Context() ends.
	Run(c *Context) error
}

// Spec registers a filter with the chain. Specs are read when a configuration
// is loaded, so New is called once per load, never per request.
type Spec struct {
	// Name is unique within the phase. It is the name in
	// zuul.<Name>.<phase>.disable, in gateway.filters.<Name>, in logs and in
	// the filters endpoint.
	Name string

	Phase Phase

	// Order sorts the filters of a phase, ascending. Filters of equal order run
	// in the order of their registration.
	Order int

	// New builds the shared instance. decode fills a pointer to a struct from
	// gateway.filters.<Name> and reports unknown or ill-typed keys; without
	// such a block it leaves the struct as it is, so set defaults first.
	New func(decode func(into any) error) (Filter, error)
}

// Func makes a Spec of one function that runs for every request.
func Func(name string, phase Phase, order int, run func(*Context) error) Spec {
	return Instance(name, phase, order, always(run))
}

// Instance makes a Spec of a ready filter that has no settings of its own.
func Instance(name string, phase Phase, order int, f Filter) Spec {
	return Spec{
		Name: name, Phase: phase, Order: order,
		New: func(func(any) error) (Filter, error) { return f, nil },
	}
}

type always func(*Context) error

var _ Filter = always(nil)

func (always) ShouldFilter(*Context) bool { return true }
func (f always) Run(c *Context) error     { return f(c) }
