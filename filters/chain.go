package filters

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
)

// Settings configure a chain.
type Settings struct {
	// Disabled tells whether zuul.<name>.<phase>.disable switches a filter
	// off; nil means that none is.
	Disabled func(name string, phase Phase) bool

	// Decode fills a pointer to a struct from gateway.filters.<name>; nil
	// means that no filter has settings.
	Decode func(name string, into any) error

	// Client is what Context.Client gives; nil means one that refuses every call.
	Client *http.Client

	// Meter counts; nil counts into a meter of the chain's own.
	Meter *Meter

	// Logger gets failures of error filters, which nothing else reports; nil
	// discards them.
	Logger *slog.Logger
}

// Chain is the compiled, immutable list of filters of one configuration. Any
// number of goroutines may use it.
type Chain struct {
	phases map[Phase][]*entry
	infos  []Info
	client *http.Client
	meter  *Meter
	logger *slog.Logger

	pre, route, post, errors []*entry
}

type entry struct {
	Info
	filter Filter
	count  *FilterCount
}

// Info describes one filter of a chain.
type Info struct {
	Name     string
	Phase    Phase
	Order    int
	Type     string // the Go type of the instance, for people
	Disabled bool
}

// NewChain builds the filters of specs and sorts them. It reports every bad
// spec at once: a missing name, phase or constructor, two filters of one name
// in a phase, settings that do not decode. There is no chain then.
func NewChain(specs []Spec, s Settings) (*Chain, error) {
	ch := &Chain{phases: map[Phase][]*entry{}, client: s.Client, meter: s.Meter, logger: s.Logger}
	if ch.meter == nil {
		ch.meter = NewMeter()
	}
	if ch.logger == nil {
		ch.logger = slog.New(slog.DiscardHandler)
	}
	var problems []error
	for _, spec := range specs {
		e, err := ch.build(spec, s)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		ch.phases[spec.Phase] = append(ch.phases[spec.Phase], e)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	ch.sort()
	return ch, nil
}

func (ch *Chain) build(spec Spec, s Settings) (*entry, error) {
	if spec.Name == "" || spec.Phase == "" || spec.New == nil {
		return nil, fmt.Errorf("filters: spec %q of phase %q needs a name, a phase and New", spec.Name, spec.Phase)
	}
	if slices.ContainsFunc(ch.phases[spec.Phase], func(e *entry) bool { return e.Name == spec.Name }) {
		return nil, fmt.Errorf("filters: two filters are named %q in phase %q", spec.Name, spec.Phase)
	}
	f, err := spec.New(func(into any) error {
		if s.Decode == nil {
			return nil
		}
		return s.Decode(spec.Name, into)
	})
	if err != nil {
		return nil, fmt.Errorf("filters: %s: %w", spec.Name, err)
	}
	if f == nil {
		return nil, fmt.Errorf("filters: %s: New returned no filter", spec.Name)
	}
	return &entry{
		Info: Info{
			Name: spec.Name, Phase: spec.Phase, Order: spec.Order, Type: fmt.Sprintf("%T", f),
			Disabled: s.Disabled != nil && s.Disabled(spec.Name, spec.Phase),
		},
		filter: f,
		count:  ch.meter.Filter(spec.Phase, spec.Name),
	}, nil
}

func (ch *Chain) sort() {
	for phase, entries := range ch.phases {
		slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(a.Order, b.Order) })
		for _, e := range entries {
			ch.infos = append(ch.infos, e.Info)
		}
		ch.phases[phase] = entries
	}
	slices.SortStableFunc(ch.infos, func(a, b Info) int { return cmp.Compare(a.Phase, b.Phase) })
	ch.pre, ch.route = ch.phases[Pre], ch.phases[Route]
	ch.post, ch.errors = ch.phases[Post], ch.phases[Error]
}

// Filters lists the filters by phase name and order, disabled ones included.
func (ch *Chain) Filters() []Info { return slices.Clone(ch.infos) }

// Meter returns what the chain counts into.
func (ch *Chain) Meter() *Meter { return ch.meter }
