// Package stamp is a post filter that removes, sets and adds response fields.
package stamp

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/gozer-gateway/gozer/filters"
)

// Settings is gateway.filters.ResponseHeaderFilter. Remove comes first, then
// Set, then Add.
type Settings struct {
	Remove []string
	Set    map[string]string // replaces what the upstream sent
	Add    map[string]string // one more value
}

// Spec registers the filter. Order 950 is just before SendResponse, so it sees
// what all other filters have made of the response. Answers to failed requests
// come from the error phase and are left alone.
func Spec() filters.Spec {
	return filters.Spec{Name: "ResponseHeaderFilter", Phase: filters.Post, Order: 950, New: build}
}

func build(decode func(any) error) (filters.Filter, error) {
	f := &filter{}
	if err := decode(&f.settings); err != nil {
		return nil, err
	}
	return f, errors.Join(check("set", f.settings.Set), check("add", f.settings.Add))
}

var (
	fieldName  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	fieldValue = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
)

func check(setting string, fields map[string]string) error {
	var problems []error
	for name, value := range fields {
		if !fieldName.MatchString(name) || !fieldValue.MatchString(value) {
			problems = append(problems, fmt.Errorf("%s: %q: %q is not a response field", setting, name, value))
		}
	}
	return errors.Join(problems...)
}

type filter struct{ settings Settings }

var _ filters.Filter = (*filter)(nil)

func (*filter) ShouldFilter(c *filters.Context) bool { return c.Response != nil }

func (f *filter) Run(c *filters.Context) error {
	edit(c.Response.Header, &f.settings)
	return nil
}

func edit(h http.Header, s *Settings) {
	for _, name := range s.Remove {
		h.Del(name)
	}
	for name, value := range s.Set {
		h.Set(name, value)
	}
	for name, value := range s.Add {
		h.Add(name, value)
	}
}
