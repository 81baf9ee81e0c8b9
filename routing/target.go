package routing

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// setTarget reads r.Location and fills the fields that depend on where the route leads.
func (r *Route) setTarget() error {
	scheme, rest, found := strings.Cut(r.Location, ":")
	switch {
	case found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")):
		r.Kind = KindURL
		return r.setURL()
	case found && strings.EqualFold(scheme, "forward"):
		r.Kind = KindForward
		return r.setForward(rest)
	case strings.ContainsAny(r.Location, ":/\\?#@ \t\r\n"):
		return errors.New("the location is neither an http or https URL, nor \"forward:\" and a path, nor a service id")
	}
	r.ServiceID = r.Location
	return nil
}

func (r *Route) setURL() error {
	u, err := parseURL(r.Location)
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	r.URL = u
	path := u.EscapedPath()
	if path == "" {
		return nil
	}
	p, err := ParsePath(path, PathOptions{})
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	r.BasePath = p.Raw
	if p.Raw != path {
		u.Path, u.RawPath = string(appendUnescaped(nil, p.Raw)), p.Raw
	}
	return nil
}

// parseURL leaves the URL, whose user info and query may be secret, out of its errors.
func parseURL(location string) (*url.URL, error) {
	u, err := url.Parse(location)
	var wrapped *url.Error
	switch {
	case errors.As(err, &wrapped):
		return nil, wrapped.Err
	case err != nil:
		return nil, err
	}
	return u, checkURL(u)
}

// checkURL refuses what a target cannot have.
func checkURL(u *url.URL) error {
	port := u.Port()
	number, err := strconv.ParseUint(port, 10, 16)
	switch {
	case u.User != nil:
		return errors.New("a user name or password is not supported")
	case u.Hostname() == "":
		return errors.New("there is no host")
	case port != "" && (err != nil || number == 0):
		return fmt.Errorf("%q is no port", port)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("a query or fragment would be lost")
	}
	return nil
}

func (r *Route) setForward(target string) error {
	u, err := url.Parse("/" + strings.TrimLeft(target, "/"))
	if err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return errors.New("forward target: a query or fragment would be lost")
	}
	p, err := ParsePath(u.EscapedPath(), PathOptions{})
	if err != nil {
		return fmt.Errorf("forward target %q: %w", target, err)
	}
	r.Forward = collapseSlashes(p.Raw)
	return nil
}

// ForwardPath returns the escaped path to ask the gateway's own handlers for when the route is a KindForward.
func (m Match) ForwardPath() string {
	return collapseSlashes(JoinURLPath(m.Route.Forward, m.Path))
}
