package apikey_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/examples/apikey"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
)

// The digest is that of "globex-key".
const globexDigest = "sha256:f2a455b59b858a04c51108416af2042203cb6ac35fa4141fba4148bc856e78d4"

func settings() apikey.Settings {
	return apikey.Settings{
		Header:  "X-Api-Key",
		Tenants: map[string][]string{"acme": {"acme-key", "acme-next-key"}, "globex": {globexDigest}},
		Exclude: []string{"/health", "/public/**"},
	}
}

// tenantSeen answers with what the upstream got in the two fields.
var tenantSeen = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "tenant="+strings.Join(r.Header["X-Tenant"], ",")+" key="+strings.Join(r.Header["X-Api-Key"], ","))
})

func TestKeys(t *testing.T) {
	const refused = "API key missing or unknown"
	tests := []struct {
		name, request, key string
		status             int
		body               string
	}{
		{"plain key", "GET /orders", "acme-key", 200, "tenant=acme key="},
		{"second key of a tenant", "GET /orders", "acme-next-key", 200, "tenant=acme key="},
		{"key known by its digest", "GET /orders", "globex-key", 200, "tenant=globex key="},
		{"the digest is no key", "GET /orders", globexDigest, 401, refused},
		{"unknown key", "GET /orders", "acme-kez", 401, refused},
		{"no key", "GET /orders", "", 401, refused},
		{"open path", "GET /health", "", 200, "tenant= key="},
		{"open tree", "GET /public/a/b", "", 200, "tenant= key="},
		{"root of an open tree", "GET /public", "", 200, "tenant= key="},
		{"an unknown key on an open path", "GET /public/a", "nonsense", 200, "tenant= key="},
		{"below an open path", "GET /health/x", "", 401, refused},
		{"a name that begins alike", "GET /publicity", "", 401, refused},
		{"out of an open tree", "GET /public/%2e%2e/orders", "", 401, refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			options := []filtertest.Option{filtertest.Header("X-Tenant", "forged")}
			if tt.key != "" {
				options = append(options, filtertest.Header("x-api-key", tt.key))
			}
			c := filtertest.New(t, tt.request, options...)
			got := filtertest.Serve(t, c, tenantSeen, filtertest.Configured(apikey.Spec(), settings()))
			if got.Code != tt.status || got.Body.String() != tt.body {
				t.Errorf("got %d %s, want %d %s", got.Code, got.Body, tt.status, tt.body)
			}
		})
	}
}

func TestRefusalTellsHowToAuthenticate(t *testing.T) {
	got := filtertest.Serve(t, filtertest.New(t, "GET /"), tenantSeen, filtertest.Configured(apikey.Spec(), settings()))
	if challenge := got.Header().Get("WWW-Authenticate"); challenge != `ApiKey realm="gateway"` {
		t.Errorf("WWW-Authenticate %q", challenge)
	}
}

func TestSettings(t *testing.T) {
	tests := []struct {
		name     string
		settings apikey.Settings
		want     []string // empty: accepted
	}{
		{"complete", settings(), nil},
		{"all wrong at once", apikey.Settings{
			Tenants: map[string][]string{"acme": {"sha256:123", "acme-key"}, "globex": {"sha256:" + strings.Repeat("x", 64)}},
			Exclude: []string{"health", "/a/*", "/a/**/b", "/**"},
		}, []string{
			"tenants.acme: sha256: must be followed by 64 hex digits",
			"tenants.globex: sha256: must be followed by 64 hex digits",
			"header is empty",
			`exclude: "health" is neither a path nor a path and /**`,
			`exclude: "/a/*" is neither a path nor a path and /**`,
			`exclude: "/a/**/b" is neither a path nor a path and /**`,
		}},
		{
			"a tenant without keys",
			apikey.Settings{Header: "Key", Tenants: map[string][]string{"acme": {}}},
			[]string{"tenants: without a key nobody could pass"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := filters.NewChain([]filters.Spec{filtertest.Configured(apikey.Spec(), tt.settings)}, filters.Settings{})
			var got []string
			if err != nil {
				got = strings.Split(strings.TrimPrefix(err.Error(), "filters: ApiKeyFilter: "), "\n")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("what the decoder finds comes back", func(t *testing.T) {
		misspelt := errors.New("gateway.filters.ApiKeyFilter.tenant: unknown setting")
		if _, err := apikey.Spec().New(func(any) error { return misspelt }); !errors.Is(err, misspelt) {
			t.Error(err)
		}
	})
}
