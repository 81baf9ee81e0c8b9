package certs

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"time"
)

// Flaw is why peers will not like a certificate that can be shown.
type Flaw struct {
	Name string // of the pair
	Text string
}

// Flaws are those of what a listener shows; a nil view has none.
func (v *View) Flaws(now time.Time) (all []Flaw) {
	if v == nil {
		return nil
	}
	for _, e := range v.entries {
		texts := FlawsOf(e.cert, x509.ExtKeyUsageServerAuth, now)
		if len(hostsOf(e.cert.Leaf)) == 0 {
			texts = append(texts, "clients will refuse the certificate: it names no host among its subject alternative names")
		}
		for _, text := range texts {
			all = append(all, Flaw{e.pair.Name, text})
		}
	}
	return all
}

// FlawsOf are those of a certificate that is shown by a server or by a client, as usage says.
func FlawsOf(c *tls.Certificate, usage x509.ExtKeyUsage, now time.Time) (texts []string) {
	leaf := c.Leaf
	whom, purpose := "clients", "serverAuth"
	if usage == x509.ExtKeyUsageClientAuth {
		whom, purpose = "servers", "clientAuth"
	}
	refuse := func(why string) { texts = append(texts, whom+" will refuse the certificate: "+why) }
	if end := endOf(c); end.Before(now) {
		refuse("it, or one of its chain, has expired at " + end.UTC().Format(time.RFC3339))
	}
	if leaf.NotBefore.After(now) {
		refuse("it is not valid before " + leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	limited := len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) > 0
	if limited && !slices.Contains(leaf.ExtKeyUsage, usage) && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny) {
		refuse("its extended key usage has no " + purpose)
	}
	return texts
}
