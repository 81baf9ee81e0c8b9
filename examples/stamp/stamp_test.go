package stamp_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/examples/stamp"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
)

func TestFields(t *testing.T) {
	upstream := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "upstream/1.0")
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Vary", "Accept")
		w.WriteHeader(http.StatusNoContent)
	})
	tests := []struct {
		name     string
		settings stamp.Settings
		want     http.Header
	}{
		{
			"nothing to do",
			stamp.Settings{},
			http.Header{"Server": {"upstream/1.0"}, "Cache-Control": {"max-age=60"}, "Vary": {"Accept"}},
		},
		{
			"each kind, in any case",
			stamp.Settings{
				Remove: []string{"SERVER", "Absent"},
				Set:    map[string]string{"cache-control": "no-store"},
				Add:    map[string]string{"vary": "Origin"},
			},
			http.Header{"Cache-Control": {"no-store"}, "Vary": {"Accept", "Origin"}},
		},
		{
			"remove, set and add one field",
			stamp.Settings{
				Remove: []string{"Vary"},
				Set:    map[string]string{"Vary": "Cookie"},
				Add:    map[string]string{"Vary": "Origin"},
			},
			http.Header{"Server": {"upstream/1.0"}, "Cache-Control": {"max-age=60"}, "Vary": {"Cookie", "Origin"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := filtertest.Serve(t, filtertest.New(t, "GET /"), upstream, filtertest.Configured(stamp.Spec(), tt.settings))
			if diff := cmp.Diff(tt.want, got.Header()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailuresAreLeftAlone(t *testing.T) {
	refuse := filters.Func("Refuse", filters.Pre, 0, func(*filters.Context) error { return filters.Refuse(http.StatusTeapot, "no") })
	spec := filtertest.Configured(stamp.Spec(), stamp.Settings{Set: map[string]string{"X-Stamp": "yes"}})
	got := filtertest.Serve(t, filtertest.New(t, "GET /"), http.NotFoundHandler(), refuse, spec)
	if got.Code != http.StatusTeapot || got.Header().Get("X-Stamp") != "" {
		t.Errorf("got %d with %v", got.Code, got.Header())
	}
}

func TestSettings(t *testing.T) {
	tests := []struct {
		name, want string // want empty: accepted
		settings   stamp.Settings
	}{
		{"tab and accents", "", stamp.Settings{Set: map[string]string{"X-A": "é\tb"}}},
		{
			"line break", `filters: ResponseHeaderFilter: set: "X-A": "1\r\nX-B: 2" is not a response field`,
			stamp.Settings{Set: map[string]string{"X-A": "1\r\nX-B: 2"}},
		},
		{
			"no name", `filters: ResponseHeaderFilter: add: "X A": "1" is not a response field`,
			stamp.Settings{Add: map[string]string{"X A": "1"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := filters.NewChain([]filters.Spec{filtertest.Configured(stamp.Spec(), tt.settings)}, filters.Settings{})
			if err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	t.Run("what the decoder finds comes back", func(t *testing.T) {
		misspelt := errors.New("gateway.filters.ResponseHeaderFilter.sett: unknown setting")
		if _, err := stamp.Spec().New(func(any) error { return misspelt }); !errors.Is(err, misspelt) {
			t.Error(err)
		}
	})
}
