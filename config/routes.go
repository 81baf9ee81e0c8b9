package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// shorthand reads "path" or "path=location" as zuul.md 3.2 has it.
func (d *draft) shorthand(line string, v *node) error {
	path, location, both := strings.Cut(line, "=")
	path, location = strings.TrimSpace(path), strings.TrimSpace(location)
	switch {
	case path == "":
		return fault(v, "has no path; write `/path/**` or `/path/**=location`")
	case both && location == "":
		return fault(v, "has nothing after the `=`; write a URL, forward:/path or a service id")
	case !both && strings.Contains(path, "://"):
		return fault(v, "is a URL where a path belongs; write `/path/**=URL`, or `url:`")
	}
	d.Shorthand = line
	d.ID = shorthandID(path)
	d.Path = rooted(path)
	if isURL(location) {
		d.url = location
	} else {
		d.serviceID = location
	}
	return nil
}

func shorthandID(path string) string {
	id := strings.TrimPrefix(path, "/")
	return strings.ReplaceAll(strings.ReplaceAll(id, "/*", ""), "*", "")
}

func rooted(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

func isURL(location string) bool {
	lower := strings.ToLower(location)
	return strings.HasPrefix(lower, "http:") || strings.HasPrefix(lower, "https:")
}

func isForward(location string) bool {
	return strings.HasPrefix(strings.ToLower(location), "forward:")
}

// finished fills in what was left out (zuul.md 3.1).
func (d *draft) finished() Route {
	r := d.Route
	r.Location = lowerScheme(cmp.Or(d.url, d.serviceID))
	if r.Location == "" {
		r.Location = r.Key
	}
	if r.ID == "" {
		r.ID = r.Key
	}
	if r.Path == "" {
		r.Path = "/" + r.Key + "/**"
	}
	r.Path = rooted(r.Path)
	return r
}

func lowerScheme(location string) string {
	scheme, rest, ok := strings.Cut(location, ":")
	if !ok || !isURL(location) && !isForward(location) {
		return location
	}
	return strings.ToLower(scheme) + ":" + rest
}

var errNoScheme = errors.New("must start with http://, https:// or forward: (a service belongs under `service-id`)")

// checkLocation finds out what would make a route useless.
func (d *draft) checkLocation() error {
	switch {
	case d.url != "" && !isURL(d.url) && !isForward(d.url):
		return fmt.Errorf("the url %w", errNoScheme)
	case d.url != "" && isURL(d.url):
		return checkURL(d.url)
	case strings.ContainsAny(d.serviceID, "/:") && !isForward(d.serviceID):
		return fmt.Errorf("that is no service id; a location with a host %w", errNoScheme)
	}
	return checkForward(d.url + d.serviceID)
}

func checkURL(location string) error {
	u, err := url.Parse(location)
	switch {
	case err != nil:
		return errors.New("the url cannot be read")
	case u.Host == "" || u.Hostname() == "":
		return errors.New("the url has no host")
	case u.User != nil:
		return errors.New("the url holds credentials, which would not be sent")
	}
	return nil
}

func checkForward(location string) error {
	if isForward(location) && len(location) == len("forward:") {
		return errors.New("`forward:` needs a local path, such as forward:/hello")
	}
	return nil
}

// checkRoutes finds routes without a usable target, and those that hide each other.
func (b *builder) checkRoutes() {
	byPath := map[string]Route{}
	for i := range b.drafts {
		d := &b.drafts[i]
		key := joinKey([]string{"zuul", "routes", d.Key})
		if err := d.checkLocation(); err != nil {
			b.report.errorf(key, d.Position, "%s", err)
			d.broken = true
		}
		if d.url != "" && d.serviceID != "" {
			b.report.warnf(key, d.Position, "has a url and a service-id; the url is used")
		}
		if d.Shorthand == "" && d.Path != "" && !strings.HasPrefix(d.Path, "/") {
			b.report.warnf(key, d.Position, "the path has no leading slash; one is added")
		}
		r := d.finished()
		if first, taken := byPath[r.Path]; taken {
			b.report.warnf(key, d.Position, "same path as route %s (%s), which it replaces", first.Key, first.Position)
		}
		byPath[r.Path] = r
		b.config.Zuul.Routes = append(b.config.Zuul.Routes, r)
	}
}
