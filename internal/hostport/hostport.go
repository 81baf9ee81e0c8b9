// Package hostport reads addresses as people write them into lists of servers.
package hostport

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// Address is one server. Scheme is "http", "https" or "" when the text names
// none; an IPv6 Host has no brackets.
type Address struct {
	Scheme string
	Host   string
	Port   int
}

// What can be wrong with an address. The texts go behind the address itself:
// "ftp://h" has a scheme other than http and https.
var (
	ErrScheme    = errors.New("has a scheme other than http and https")
	ErrPath      = errors.New("has a path; a server is only scheme, host and port")
	ErrHost      = errors.New("is not host:port (an IPv6 address needs brackets)")
	ErrPort      = errors.New("has no usable port (1 to 65535)")
	ErrHostless  = errors.New("has no host")
	ErrMisplaced = errors.New("has a scheme where the host belongs; write it as http://host:port")
)

// Parse reads [http://|https://]host[:port][/], with blanks around it. Without
// a port it is 443 for https and 80 otherwise. An IPv6 address needs brackets,
// even without a port.
func Parse(text string) (Address, error) {
	a, authority, err := parseScheme(strings.TrimSpace(text))
	if err != nil {
		return Address{}, err
	}
	host, port, err := split(authority)
	if err != nil {
		return Address{}, err
	}
	if a.Host, err = CheckHost(host); err != nil {
		return Address{}, err
	}
	if port != "" {
		a.Port, err = parsePort(port[1:])
	}
	return a, err
}

// parseScheme takes the scheme and an empty path off text.
func parseScheme(text string) (a Address, authority string, err error) {
	a.Port = 80
	if scheme, rest, found := strings.Cut(text, "://"); found {
		switch a.Scheme = strings.ToLower(scheme); a.Scheme {
		case "http":
		case "https":
			a.Port = 443
		default:
			return a, "", ErrScheme
		}
		text = rest
	}
	authority, path, _ := strings.Cut(text, "/")
	if path != "" {
		return a, "", ErrPath
	}
	return a, authority, nil
}

// split cuts authority into the host, with its brackets, and ":port" or "".
func split(authority string) (host, port string, err error) {
	end := 0
	if strings.HasPrefix(authority, "[") {
		if end = strings.IndexByte(authority, ']') + 1; end == 0 {
			return "", "", ErrHost
		}
	} else if end = strings.IndexByte(authority, ':'); end < 0 {
		end = len(authority)
	}
	host, port = authority[:end], authority[end:]
	if port != "" && port[0] != ':' || strings.Count(port, ":") > 1 {
		return "", "", ErrHost
	}
	return host, port, nil
}

func parsePort(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, ErrPort
	}
	return int(n), nil
}

// CheckHost returns a host name or address without the brackets of an IPv6
// address, or says why it is none.
func CheckHost(host string) (string, error) {
	if inner, found := strings.CutPrefix(host, "["); found {
		inner = strings.Replace(strings.TrimSuffix(inner, "]"), "%25", "%", 1)
		if a, err := netip.ParseAddr(inner); err != nil || !a.Is6() {
			return "", ErrHost
		}
		return inner, nil
	}
	switch {
	case host == "":
		return "", ErrHostless
	case strings.ContainsFunc(host, notInHost):
		return "", ErrHost
	case strings.EqualFold(host, "http"), strings.EqualFold(host, "https"):
		return "", ErrMisplaced
	}
	return host, nil
}

func notInHost(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
		return false
	}
	return true
}
