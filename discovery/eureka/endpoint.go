package eureka

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// endpoint is a registry's root. Credentials are kept apart from the URL, which may be shown.
type endpoint struct {
	base *url.URL // ends in a slash
	user *url.Userinfo
	zone string
}

func (e *endpoint) String() string { return e.base.String() }

// parseEndpoint reads a service URL. Its error does not quote it, since there may be a
// password in it.
func parseEndpoint(text, zone string) (*endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, errors.New("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "":
		return nil, errors.New("is not an http or https URL with a host")
	}
	e := &endpoint{base: &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}, user: u.User, zone: zone}
	if !strings.HasSuffix(e.base.Path, "/") {
		e.base = e.base.JoinPath("/")
	}
	return e, nil
}

// CheckServiceURL tells what is wrong with a service URL, without quoting it.
func CheckServiceURL(text string) error {
	_, err := parseEndpoint(text, "")
	return err
}

// endpoints lists the registries in the order of preference (section 5.6): those of
// the own zone, then the others, each in an order that the seed chooses.
func (s ServerSettings) endpoints() ([]*endpoint, error) {
	zones, all, err := s.configured()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("eureka: no service URL for the zones %s", strings.Join(zones, ", "))
	}
	return s.affine(all, zones[0]), nil
}

// configured lists the registries of the zones in the order of the configuration,
// beginning with the own zone or, if others come first, with the first that is not.
func (s ServerSettings) configured() (zones []string, all []*endpoint, err error) {
	zones = s.Zones()
	own := zones[0]
	start := max(0, slices.IndexFunc(zones, func(zone string) bool { return sameZone(zone, own) != s.OtherZonesFirst }))
	var problems []error
	for i := range zones {
		zone := zones[(start+i)%len(zones)]
		for n, text := range s.urlsOf(zone) {
			e, err := parseEndpoint(text, zone)
			if err != nil {
				problems = append(problems, fmt.Errorf("eureka: service URL %d of zone %s %w", n+1, zone, err))
				continue
			}
			all = append(all, e)
		}
	}
	return zones, all, errors.Join(problems...)
}

// urlsOf lists the URLs of a zone, those of the default zone if it has none.
func (s ServerSettings) urlsOf(zone string) []string {
	for _, name := range [...]string{zone, DefaultZone} {
		var urls []string
		for _, list := range s.ServiceURLs[name] {
			for one := range strings.SplitSeq(list, ",") {
				if one = strings.TrimSpace(one); one != "" {
					urls = append(urls, one)
				}
			}
		}
		if len(urls) > 0 {
			return urls
		}
	}
	return nil
}

// affine puts the endpoints of the own zone first, or last.
func (s ServerSettings) affine(all []*endpoint, own string) []*endpoint {
	var near, far []*endpoint
	for _, e := range all {
		if sameZone(e.zone, own) {
			near = append(near, e)
		} else {
			far = append(far, e)
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Seed)) // does not fail
	order := rand.New(rand.NewPCG(h.Sum64(), 0))
	for _, list := range [...][]*endpoint{near, far} {
		order.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	if s.OtherZonesFirst {
		return append(far, near...)
	}
	return append(near, far...)
}

func sameZone(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }
