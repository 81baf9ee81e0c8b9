package admin

import (
	"net/http"
	"strings"
	"time"
)

// Change is what a reload has changed, by names. It holds no values, so no secrets.
// None of its lists is nil.
type Change struct {
	Routes Delta `json:"routes"` // by id
	// RoutesReordered is true when routes that stay are tried in another order.
	RoutesReordered bool  `json:"routesReordered"`
	Services        Delta `json:"services"` // by id, those without settings of their own too
	Filters         Delta `json:"filters"`  // by name
	// Keys are those whose values are others, in the order of the alphabet.
	Keys []string `json:"keys"`
	// NeedRestart are the keys whose values differ from those that the process was started with
	// and which it keeps.
	NeedRestart []string `json:"needRestart"`
}

// Delta are names that came, stayed with other settings, and went.
type Delta struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

// Reloads are what became of the configurations that were to be loaded since the start,
// which itself is none.
type Reloads struct {
	Succeeded, Failed int64
	// LastSuccess is the time of the start before the first reload.
	LastSuccess time.Time
	LastFailure time.Time // zero for never
	// Failing is true when the last one failed: the running configuration is an older one.
	Failing bool
}

// reload loads the configuration again and lists the keys that have changed, as
// Spring does; with ?format=details all that has changed.
func (a *api) reload(w http.ResponseWriter, r *http.Request) {
	change, err := a.view.Refresh(r.Context())
	switch {
	case err != nil:
		fail(w, r, http.StatusInternalServerError, err.Error())
	case strings.EqualFold(r.URL.Query().Get("format"), "details"):
		write(w, http.StatusOK, change)
	default:
		write(w, http.StatusOK, change.Keys)
	}
}
