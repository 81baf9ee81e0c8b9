package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"time"

	"github.com/gozer-gateway/gozer/internal/pemfile"
)

// View is what is in force at a time. It is never changed.
type View struct {
	settings    Settings
	entries     []*entry
	authorities *authorities // nil without
	table       table
	config      *tls.Config
}

// entry is one certificate as it was read. It is never changed.
type entry struct {
	pair    Pair
	cert    *tls.Certificate
	stamps  stamps
	problem string // of the files as they are now, while cert is what they were
}

func (e *entry) hosts() []string {
	if len(e.pair.Hosts) > 0 {
		return e.pair.Hosts
	}
	return hostsOf(e.cert.Leaf)
}

func (e *entry) ends() time.Time { return endOf(e.cert) }

// authorities are those of clients as they were read. They are never changed.
type authorities struct {
	file    string
	pool    *x509.CertPool
	stamps  stamps
	problem string
}

// Error is a failure to read one of the files that settings name.
type Error struct {
	Name string // of the pair, empty for the authorities
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// renew returns e if its files are as they were, and else what they hold now. Should that
// be unusable, it is e with the problem.
func (e *entry) renew(pair Pair) (*entry, error) {
	now := stampsOf(pair.Certificate, pair.Key)
	if e != nil && e.problem == "" && e.stamps.same(now) {
		return &entry{pair: pair, cert: e.cert, stamps: e.stamps}, nil
	}
	cert, err := pemfile.PairFiles(pair.Certificate, pair.Key)
	switch {
	case err == nil:
		return &entry{pair: pair, cert: cert, stamps: now}, nil
	case e == nil:
		return nil, &Error{pair.Name, err}
	}
	return &entry{pair: pair, cert: e.cert, stamps: e.stamps, problem: err.Error()}, nil
}

var errNoAuthorities = errors.New("a file of the authorities that clients' certificates are from is needed")

func (a *authorities) renew(file string) (*authorities, error) {
	if file == "" {
		return nil, &Error{"", errNoAuthorities}
	}
	now := stampsOf(file)
	if a != nil && a.problem == "" && a.stamps.same(now) {
		return a, nil
	}
	pool, err := pemfile.PoolFile(file)
	switch {
	case err == nil:
		if a != nil && pool.Equal(a.pool) {
			pool = a.pool
		}
		return &authorities{file: file, pool: pool, stamps: now}, nil
	case a == nil:
		return nil, &Error{"", err}
	}
	return &authorities{file: file, pool: a.pool, stamps: a.stamps, problem: err.Error()}, nil
}

// next reads what settings name. What v, which may be nil, has from the same files is
// taken over as long as they have not changed, or can no longer be used.
func (v *View) next(settings Settings) (*View, error) {
	n := &View{settings: settings}
	var problems []error
	for _, pair := range settings.Pairs {
		e, err := v.entry(pair).renew(pair)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		n.entries = append(n.entries, e)
	}
	if settings.ClientAuth != tls.NoClientCert {
		var err error
		n.authorities, err = v.trusted(settings.Authorities).renew(settings.Authorities)
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	n.build()
	return n, nil
}

// entry finds what was read from the files of a pair.
func (v *View) entry(pair Pair) *entry {
	if v == nil {
		return nil
	}
	i := slices.IndexFunc(v.entries, func(e *entry) bool {
		return e.pair.Certificate == pair.Certificate && e.pair.Key == pair.Key
	})
	if i < 0 {
		return nil
	}
	return v.entries[i]
}

func (v *View) trusted(file string) *authorities {
	if v == nil || v.authorities == nil || v.authorities.file != file {
		return nil
	}
	return v.authorities
}

func (v *View) build() {
	v.table = newTable(v.entries)
	s := v.settings
	v.config = &tls.Config{
		MinVersion: s.MinVersion, MaxVersion: s.MaxVersion, CipherSuites: s.Ciphers, //nolint:gosec // as configured, 1.2 by default
		NextProtos: s.Protocols, ClientAuth: s.ClientAuth,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) { return v.table.choose(hello), nil },
	}
	if v.authorities != nil {
		v.config.ClientCAs = v.authorities.pool
	}
}

// trusts tells whether v asks the same of clients as an earlier view did.
func (v *View) trusts(old *View) bool {
	pool := func(v *View) *x509.CertPool {
		if v.authorities == nil {
			return nil
		}
		return v.authorities.pool
	}
	return old != nil && v.settings.ClientAuth == old.settings.ClientAuth && pool(v) == pool(old)
}

// problems tells, by name, which files have become unusable.
func (v *View) problems() map[string]string {
	p := map[string]string{}
	for _, e := range v.entries {
		if e.problem != "" {
			p[e.pair.Name] = e.problem
		}
	}
	if v.authorities != nil && v.authorities.problem != "" {
		p["authorities"] = v.authorities.problem
	}
	return p
}

func (e *entry) serial() string { return e.cert.Leaf.SerialNumber.Text(16) }
