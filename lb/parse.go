package lb

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Sentinels of ParseServer; the error that wraps one quotes the text.
var (
	errScheme = errors.New("only http:// and https:// are understood")
	errPath   = errors.New("a path is not supported here")
	errHost   = errors.New("not a host name, an IPv4 address or a bracketed IPv6 address")
	errPort   = errors.New("not a port between 1 and 65535")
)

// ParseServers reads lists in the form of Ribbon's listOfServers: servers between
// commas, blanks around them ignored, empty ones skipped. It returns the servers it
// could read together with the complaints about the others, joined.
func ParseServers(lists ...string) ([]Server, error) {
	var servers []Server
	var errs []error
	for _, list := range lists {
		for item := range strings.SplitSeq(list, ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			s, err := ParseServer(item)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			servers = append(servers, s)
		}
	}
	return servers, errors.Join(errs...)
}

// ParseServer reads [http://|https://]host[:port][/]. Without a port it is 443 for
// https and 80 otherwise. An IPv6 address needs brackets, even without a port.
func ParseServer(text string) (Server, error) {
	s := Server{Zone: UnknownZone}
	authority, err := s.parseScheme(strings.TrimSpace(text))
	if err == nil {
		err = s.parseAuthority(authority)
	}
	if err != nil {
		return Server{}, fmt.Errorf("lb: server %q: %w", text, err)
	}
	s.addr = s.HostPort()
	s.ID = s.addr
	return s, nil
}

// parseScheme takes the scheme and an empty path off text.
func (s *Server) parseScheme(text string) (authority string, err error) {
	s.Port = 80
	if scheme, rest, found := strings.Cut(text, "://"); found {
		switch s.Scheme = strings.ToLower(scheme); s.Scheme {
		case "http":
		case "https":
			s.Secure, s.Port = true, 443
		default:
			return "", errScheme
		}
		text = rest
	}
	authority, path, _ := strings.Cut(text, "/")
	if path != "" {
		return "", errPath
	}
	return authority, nil
}

func (s *Server) parseAuthority(authority string) error {
	host, port, err := splitPort(authority)
	if err != nil {
		return err
	}
	if s.Host, err = cleanHost(host); err != nil {
		return err
	}
	if port == "" {
		return nil
	}
	n, err := strconv.ParseUint(port[1:], 10, 16)
	if err != nil || n == 0 {
		return errPort
	}
	s.Port = int(n)
	return nil
}

// splitPort cuts authority into the host, with its brackets, and ":port" or "".
func splitPort(authority string) (host, port string, err error) {
	end := 0
	if strings.HasPrefix(authority, "[") {
		if end = strings.IndexByte(authority, ']') + 1; end == 0 {
			return "", "", errHost
		}
	} else if end = strings.IndexByte(authority, ':'); end < 0 {
		end = len(authority)
	}
	host, port = authority[:end], authority[end:]
	if port != "" && port[0] != ':' || strings.Count(port, ":") > 1 {
		return "", "", errHost
	}
	return host, port, nil
}

// cleanHost checks a host and takes the brackets off an IPv6 address.
func cleanHost(host string) (string, error) {
	if inner, found := strings.CutPrefix(host, "["); found {
		inner = strings.Replace(strings.TrimSuffix(inner, "]"), "%25", "%", 1)
		if a, err := netip.ParseAddr(inner); err != nil || !a.Is6() {
			return "", errHost
		}
		return inner, nil
	}
	if host == "" || strings.IndexFunc(host, notInHost) >= 0 {
		return "", errHost
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

// checkAddress does for an instance of a source what ParseServer does for text.
func (s *Server) checkAddress() error {
	if net.ParseIP(s.Host) == nil {
		host, err := cleanHost(s.Host)
		if err != nil && !strings.Contains(s.Host, "%") {
			return err
		}
		if err == nil {
			s.Host = host
		}
	}
	if s.Port < 1 || s.Port > 65535 {
		return errPort
	}
	return nil
}
