package certs

import (
	"crypto/tls"
	"crypto/x509"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Info tells about a certificate in force.
type Info struct {
	Listener, Name, File string // Listener is empty for one that is shown to servers
	Subject, Issuer      string
	Serial               string // hexadecimal
	Hosts                []string
	From, Until          time.Time // Until is the earliest end in the chain
	// Problem tells why the files as they are now cannot be used; empty: they can.
	Problem string
}

// Describe tells what stands in a certificate and its chain.
func Describe(c *tls.Certificate) Info {
	leaf := c.Leaf
	return Info{
		Subject: leaf.Subject.String(), Issuer: leaf.Issuer.String(), Serial: leaf.SerialNumber.Text(16),
		Hosts: hostsOf(leaf), From: leaf.NotBefore, Until: endOf(c),
	}
}

// endOf is when the first certificate of a chain ends.
func endOf(c *tls.Certificate) time.Time {
	end := c.Leaf.NotAfter
	for _, der := range c.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil && c.NotAfter.Before(end) {
			end = c.NotAfter
		}
	}
	return end
}

// Listener is the name that New was given.
func (s *Store) Listener() string { return s.listener }

// Certificates tells what is in force; nothing before the first view.
func (s *Store) Certificates() []Info {
	if v := s.current.Load(); v != nil {
		return s.describe(v)
	}
	return nil
}

func (s *Store) describe(v *View) []Info {
	list := make([]Info, 0, len(v.entries))
	for _, e := range v.entries {
		info := Describe(e.cert)
		info.Listener, info.Name, info.File = s.listener, e.pair.Name, e.pair.Certificate
		info.Hosts, info.Problem = e.hosts(), e.problem
		list = append(list, info)
	}
	return list
}

// AuthoritiesProblem tells why the file of clients' authorities cannot be used any more;
// empty: it can, or there is none.
func (s *Store) AuthoritiesProblem() string {
	if v := s.current.Load(); v != nil && v.authorities != nil {
		return v.authorities.problem
	}
	return ""
}

// WarnsBefore is how long before its end a certificate is warned of.
func (s *Store) WarnsBefore() time.Duration {
	if v := s.current.Load(); v != nil {
		return v.settings.Warning
	}
	return 0
}

// Counts are what a listener has seen since the start.
type Counts struct {
	Hellos   int64            // handshakes that have begun
	Failures map[string]int64 // by one of the Reasons
	Replaced int64            // certificates that have taken the place of another
	Refused  int64            // times that changed files could not be used
}

type counters struct {
	hellos, replaced, refused atomic.Int64

	mu       sync.Mutex
	failures map[string]int64 // guarded by mu
}

// Counts may be called at any time.
func (s *Store) Counts() Counts {
	c := &s.count
	c.mu.Lock()
	defer c.mu.Unlock()
	return Counts{
		Hellos: c.hellos.Load(), Failures: maps.Clone(c.failures),
		Replaced: c.replaced.Load(), Refused: c.refused.Load(),
	}
}

// Failed counts a handshake that has failed. message is the text of its error.
func (s *Store) Failed(message string) {
	c := &s.count
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == nil {
		c.failures = map[string]int64{}
	}
	c.failures[Reason(message)]++
}

// Reasons are all that Reason returns.
func Reasons() []string {
	all := make([]string, 0, len(reasons())+1)
	for _, r := range reasons() {
		if len(all) == 0 || all[len(all)-1] != r.reason {
			all = append(all, r.reason)
		}
	}
	return append(all, "other")
}

type cause struct{ text, reason string }

// reasons are looked for in this order. Package tls has types for few of its errors, and
// net/http's server gives the text alone.
func reasons() []cause {
	return []cause{
		{"didn't provide a certificate", "client-certificate-missing"},
		{"certificate has expired or is not yet valid", "client-certificate-expired"},
		{"certificate signed by unknown authority", "client-certificate-unknown-authority"},
		{"failed to verify certificate", "client-certificate-bad"},
		{"invalid signature by the client certificate", "client-certificate-bad"},
		{"no certificates configured", "unknown-name"},
		{"does not look like a TLS handshake", "not-tls"},
		{"HTTP request to an HTTPS server", "not-tls"},
		{"unsupported versions", "no-agreement"},
		{"no cipher suite", "no-agreement"},
		{"unsupported application protocols", "no-agreement"},
		{"remote error", "refused-by-client"},
		{"timeout", "timeout"},
		{"deadline exceeded", "timeout"},
		{"EOF", "gone"},
		{"connection reset", "gone"},
		{"broken pipe", "gone"},
		{"closed", "gone"},
	}
}

// Reason sorts the failures of handshakes into few kinds.
func Reason(message string) string {
	for _, r := range reasons() {
		if strings.Contains(message, r.text) {
			return r.reason
		}
	}
	return "other"
}
