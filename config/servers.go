package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// setServers reads listOfServers. Every entry is [http[s]://]host[:port][/]; a path is
// refused since a request's own path is sent.
func setServers(r *Ribbon, v *node) error {
	entries, err := listOf(v)
	if err != nil {
		return err
	}
	servers := make([]Instance, len(entries))
	for i, e := range entries {
		if servers[i], err = instanceOf(e); err != nil {
			return err
		}
	}
	r.Servers = servers
	return nil
}

func instanceOf(v *node) (Instance, error) {
	scheme, authority, err := splitScheme(v)
	if err != nil {
		return Instance{}, err
	}
	authority, path, _ := strings.Cut(authority, "/")
	switch {
	case strings.Trim(path, "/") != "":
		return Instance{}, fault(v, "has a path; a server is only scheme, host and port")
	case strings.ContainsAny(authority, "@?# \t\\"):
		return Instance{}, fault(v, "is not host:port")
	}
	s := Instance{Scheme: scheme, Port: 80}
	if scheme == "https" {
		s.Port = 443
	}
	return s.located(authority, v)
}

func splitScheme(v *node) (scheme, rest string, err error) {
	entry := strings.TrimSpace(v.text)
	scheme, rest, ok := strings.Cut(entry, "://")
	if !ok {
		return "", entry, nil
	}
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return "", "", fault(v, "has a scheme other than http and https")
	}
	return scheme, rest, nil
}

// located adds host and port.
func (s Instance) located(authority string, v *node) (Instance, error) {
	s.Host = authority
	if hasPort(authority) {
		host, port, err := net.SplitHostPort(authority)
		if err != nil {
			return Instance{}, fault(v, "is not host:port (an IPv6 address needs brackets)")
		}
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return Instance{}, fault(v, "has no usable port (1 to 65535)")
		}
		s.Host, s.Port = host, n
	}
	literal := strings.HasPrefix(authority, "[")
	s.Host = strings.Trim(s.Host, "[]")
	switch {
	case s.Host == "":
		return Instance{}, fault(v, "has no host")
	case literal && !isIPv6(s.Host), !literal && strings.ContainsFunc(s.Host, notInHost):
		return Instance{}, fault(v, "has no host that could exist")
	case strings.EqualFold(s.Host, "http") || strings.EqualFold(s.Host, "https"):
		return Instance{}, fault(v, "has a scheme where the host belongs; write it as http://host:port")
	}
	return s, nil
}

func isIPv6(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Is6()
}

func notInHost(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", r)
}

func hasPort(authority string) bool {
	return strings.Contains(authority, ":") && !strings.HasSuffix(authority, "]")
}
