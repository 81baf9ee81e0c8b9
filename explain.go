package gozer

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
	"github.com/gozer-gateway/gozer/routing"
)

// explanation collects what there is to say about a request: paragraphs of lines of
// a name, a value and where the value comes from.
type explanation struct {
	gateway  *Gateway
	snapshot *snapshot
	config   *config.Config

	text strings.Builder
}

func (e *explanation) String() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 4, 3, ' ', tabwriter.TabIndent)
	_, _ = table.Write([]byte(e.text.String())) // a Builder takes everything
	_ = table.Flush()
	return out.String()
}

func (e *explanation) heading(text string) { e.text.WriteString("\n" + text + "\n") }

func (e *explanation) line(name, value string, remarks ...string) {
	e.text.WriteString("  " + name + "\t" + value)
	if remark := strings.Join(remarks, ", "); remark != "" {
		e.text.WriteString("\t" + remark)
	}
	e.text.WriteByte('\n')
}

// setting is a line about a value that the first of the keys decides that is
// written anywhere.
func (e *explanation) setting(name, value string, keys ...string) {
	e.line(name, value, e.origin(keys...))
}

// origin names the key that decides, and where it is written.
func (e *explanation) origin(keys ...string) string {
	for _, key := range keys {
		if at := e.config.Place(key); at != (config.Position{}) {
			return key + " (" + at.String() + ")"
		}
	}
	return "default"
}

// request follows a request through the pre phase as far as it can be foreseen:
// what filters of others do is not tried.
func (e *explanation) request(r *http.Request) {
	e.text.WriteString(r.Method + " " + r.URL.String() + "\n")
	c := e.snapshot.open(&e.gateway.state.contexts, nowhere{}, r)
	defer c.Release()
	if c.Err == nil && c.Response == nil {
		c.Err = e.decorate(c)
	}
	e.heading("route")
	switch {
	case c.Err != nil:
		e.refusal(c)
	case c.Response != nil:
		e.line("answer", "by the gateway itself")
	case c.Route == nil:
		e.line("none", "a local handler answers, else 404")
	default:
		e.route(c)
	}
	e.filters()
}

// decorate runs the built-in filter that finds the route.
func (e *explanation) decorate(c *filters.Context) error {
	for _, spec := range e.gateway.builtins(e.snapshot) {
		if spec.Name != "PreDecorationFilter" {
			continue
		}
		f, err := spec.New(func(any) error { return nil })
		if err != nil || !f.ShouldFilter(c) {
			return err
		}
		return f.Run(c)
	}
	return errors.New("there is no filter that finds routes")
}

func (e *explanation) refusal(c *filters.Context) {
	answer := errorfilter.Mapping{Compat: e.config.Gateway.Compat.ErrorStatus}.Answer(c)
	e.line("refused", strconv.Itoa(answer.Status)+" "+http.StatusText(answer.Status), answer.Cause)
}

func (e *explanation) route(c *filters.Context) {
	r := c.Route
	from := "discovered"
	if !r.Discovered {
		from = e.routePlace(r.ID)
	}
	e.line("id", r.ID, from)
	e.line("pattern", r.FullPath)
	e.line("to", r.Kind.String()+" "+r.Location)
	e.line("sends", c.Out.Method+" "+target(c))
	e.added(c)
	switch r.Kind {
	case routing.KindService:
		e.service(c)
	case routing.KindURL:
		if u := c.Out.URL; u != nil && u.Scheme == "https" {
			e.routeTLS(r.ID)
		}
		e.urlRoute()
	case routing.KindForward:
		e.line("handler", c.ForwardTo)
	}
}

// target is the path and query that go upstream.
func target(c *filters.Context) string {
	path := c.Out.Path
	if c.Route.Kind == routing.KindURL {
		path = routing.JoinURLPath(c.Route.BasePath, path)
	}
	if path == "" {
		path = "/"
	}
	if c.Out.Query != "" {
		path += "?" + c.Out.Query
	}
	return path
}

// added lists the fields that the client has not sent.
func (e *explanation) added(c *filters.Context) {
	for _, name := range slices.Sorted(maps.Keys(c.Out.Header)) {
		if value := strings.Join(c.Out.Header[name], ", "); value != strings.Join(c.Request.Header[name], ", ") {
			if value == c.RequestID {
				value = "(random)"
			}
			e.line("adds", name+": "+value)
		}
	}
}

func (e *explanation) routePlace(id string) string {
	for _, r := range e.config.Zuul.Routes {
		if r.ID == id {
			return "zuul.routes." + r.Key + " (" + r.Position.String() + ")"
		}
	}
	return ""
}

// filters lists those of the chain in the order in which they come up.
func (e *explanation) filters() {
	phases := map[filters.Phase][]string{}
	order := []filters.Phase{filters.Pre, filters.Route, filters.Post, filters.Error}
	for _, f := range e.snapshot.chain.Filters() {
		if !slices.Contains(order, f.Phase) {
			order = append(order, f.Phase)
		}
		name := f.Name
		if f.Disabled {
			name += " (disabled)"
		}
		phases[f.Phase] = append(phases[f.Phase], name)
	}
	e.heading("filters, each of which may still decide otherwise")
	for _, phase := range order {
		e.line(string(phase), strings.Join(phases[phase], ", "))
	}
}

// nowhere is where the answer to a request goes that nobody has sent.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
