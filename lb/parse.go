package lb

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/gozer-gateway/gozer/internal/hostport"
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
	a, err := hostport.Parse(text)
	if err != nil {
		if at := strings.LastIndexByte(text, '@'); at >= 0 {
			text = "***" + text[at:] // there may be a password in front of it
		}
		return Server{}, fmt.Errorf("lb: server %q %w", text, err)
	}
	s := Server{Scheme: a.Scheme, Secure: a.Scheme == "https", Host: a.Host, Port: a.Port, Zone: UnknownZone}
	s.addr = s.HostPort()
	s.ID = s.addr
	return s, nil
}

// checkAddress does for an instance of a source what ParseServer does for text.
func (s *Server) checkAddress() error {
	if net.ParseIP(s.Host) == nil {
		host, err := hostport.CheckHost(s.Host)
		if err != nil && !strings.Contains(s.Host, "%") {
			return err
		}
		if err == nil {
			s.Host = host
		}
	}
	if s.Port < 1 || s.Port > 65535 {
		return hostport.ErrPort
	}
	return nil
}
