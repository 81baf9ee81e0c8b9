package certs

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
)

// Host returns a host name in the form in which names are compared: lower case, without
// the dot at the end, an address without brackets.
func Host(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if strings.HasPrefix(name, "[") {
		name = strings.Trim(name, "[]")
	}
	if ip := net.ParseIP(name); ip != nil {
		return ip.String()
	}
	return name
}

// Names is a set of host names, wildcards among them.
type Names map[string]struct{}

// NewNames collects names; "*.example.com" stands for any one label.
func NewNames(hosts ...string) Names {
	n := Names{}
	for _, host := range hosts {
		n[Host(host)] = struct{}{}
	}
	return n
}

// Has tells whether a host, in any form, is one of the names.
func (n Names) Has(host string) bool {
	host = Host(host)
	if host == "" || strings.ContainsRune(host, '*') {
		return false
	}
	if _, ok := n[host]; ok {
		return true
	}
	_, ok := n[wildcard(host)]
	return ok
}

// wildcard is the one that stands for a name.
func wildcard(host string) string {
	_, parent, found := strings.Cut(host, ".")
	if !found || net.ParseIP(host) != nil {
		return ""
	}
	return "*." + parent
}

// hostsOf are the names that a certificate is for.
func hostsOf(leaf *x509.Certificate) []string {
	hosts := append([]string(nil), leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return hosts
}

// table finds certificates by name. Several may have the same, for clients that can do
// different things.
type table struct {
	byName    map[string][]*tls.Certificate
	otherwise *tls.Certificate // nil: other names are refused
}

func newTable(entries []*entry) table {
	t := table{byName: map[string][]*tls.Certificate{}}
	for _, e := range entries {
		if e.pair.Default {
			t.otherwise = e.cert
		}
		for _, host := range e.hosts() {
			host = Host(host)
			t.byName[host] = append(t.byName[host], e.cert)
		}
	}
	return t
}

// choose is for tls.Config: without a certificate and an error the client is told that
// the name is not known here.
func (t table) choose(hello *tls.ClientHelloInfo) *tls.Certificate {
	name := Host(hello.ServerName)
	candidates := t.byName[name]
	if candidates == nil && name != "" {
		candidates = t.byName[wildcard(name)]
	}
	for _, c := range candidates {
		if len(candidates) == 1 || hello.SupportsCertificate(c) == nil {
			return c
		}
	}
	if len(candidates) > 0 {
		return candidates[0]
	}
	return t.otherwise
}

// has tells whether a certificate is for a host.
func (t table) has(host string) bool {
	host = Host(host)
	if host == "" || strings.ContainsRune(host, '*') {
		return false
	}
	return t.byName[host] != nil || t.byName[wildcard(host)] != nil
}
