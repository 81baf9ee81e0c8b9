// Package apikey is a pre filter that lets callers with a known API key pass and
// tells the upstream whose key it was.
package apikey

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/filters"
)

// TenantHeader names the tenant to the upstream. What a client sends under this
// name never gets there.
const TenantHeader = "X-Tenant"

// Settings is gateway.filters.ApiKeyFilter.
type Settings struct {
	// Header is the request field with the key; the upstream does not see it.
	// Default X-Api-Key.
	Header string

	// Tenants lists the keys of each tenant, at least one. A key is written as
	// "sha256:" and the hex digest of the key, or as itself, and then better
	// by way of a placeholder: ${ACME_API_KEY}.
	Tenants map[string][]string

	// Exclude are paths that need no key: one path, or "/public/**" for
	// everything at and below /public.
	Exclude []string
}

// Spec registers the filter. Order 4 is before PreDecoration, so nobody without
// a key learns which routes there are.
func Spec() filters.Spec {
	return filters.Spec{Name: "ApiKeyFilter", Phase: filters.Pre, Order: 4, New: build}
}

func build(decode func(any) error) (filters.Filter, error) {
	s := Settings{Header: "X-Api-Key"}
	if err := decode(&s); err != nil {
		return nil, err
	}
	keys, err := readKeys(s.Tenants)
	if err := errors.Join(err, check(s)); err != nil {
		return nil, err
	}
	return &filter{header: s.Header, keys: keys, exclude: s.Exclude}, nil
}

func check(s Settings) error {
	var problems []error
	if s.Header == "" {
		problems = append(problems, errors.New("header is empty"))
	}
	for _, p := range s.Exclude {
		if !strings.HasPrefix(p, "/") || strings.Contains(strings.TrimSuffix(p, "/**"), "*") {
			problems = append(problems, fmt.Errorf("exclude: %q is neither a path nor a path and /**", p))
		}
	}
	return errors.Join(problems...)
}

type key struct {
	digest [sha256.Size]byte
	tenant string
}

func readKeys(tenants map[string][]string) ([]key, error) {
	var keys []key
	var problems []error
	for _, tenant := range slices.Sorted(maps.Keys(tenants)) {
		for _, text := range tenants[tenant] {
			digest, err := digestOf(text)
			if err != nil {
				problems = append(problems, fmt.Errorf("tenants.%s: %w", tenant, err))
			}
			keys = append(keys, key{digest, tenant})
		}
	}
	if len(keys) == 0 {
		problems = append(problems, errors.New("tenants: without a key nobody could pass"))
	}
	return keys, errors.Join(problems...)
}

func digestOf(text string) ([sha256.Size]byte, error) {
	digits, hashed := strings.CutPrefix(text, "sha256:")
	if !hashed {
		return sha256.Sum256([]byte(text)), nil
	}
	digest, err := hex.DecodeString(digits)
	if err != nil || len(digest) != sha256.Size {
		return [sha256.Size]byte{}, errors.New("sha256: must be followed by 64 hex digits")
	}
	return [sha256.Size]byte(digest), nil
}

type filter struct {
	header  string
	keys    []key
	exclude []string
}

var _ filters.Filter = (*filter)(nil)

// ShouldFilter is always true: forged tenants are removed from open paths too.
func (*filter) ShouldFilter(*filters.Context) bool { return true }

func (f *filter) Run(c *filters.Context) error {
	c.Out.Header.Del(f.header)
	c.Out.Header.Del(TenantHeader)
	if f.open(c.Path.Clean) {
		return nil
	}
	tenant := f.tenant(c.Request.Header.Get(f.header))
	if tenant == "" {
		return &filters.StatusError{
			Status: http.StatusUnauthorized,
			Cause:  "API key missing or unknown",
			Header: http.Header{"Www-Authenticate": {`ApiKey realm="gateway"`}},
		}
	}
	c.Out.Header.Set(TenantHeader, tenant)
	return nil
}

func (f *filter) open(path string) bool {
	return slices.ContainsFunc(f.exclude, func(p string) bool {
		tree, deep := strings.CutSuffix(p, "/**")
		return path == tree || deep && strings.HasPrefix(path, tree+"/")
	})
}

// tenant returns whose key it is, empty for nobody's. It compares with every
// key, so that the time it takes says nothing about them.
func (f *filter) tenant(given string) (tenant string) {
	if given == "" {
		return ""
	}
	digest := sha256.Sum256([]byte(given))
	for _, k := range f.keys {
		if subtle.ConstantTimeCompare(digest[:], k.digest[:]) == 1 {
			tenant = k.tenant
		}
	}
	return tenant
}
