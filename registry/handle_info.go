package registry

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

func sendJSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", eureka.JSON.ContentType())
	_, _ = w.Write(body)
}

// getStatus is what the original's status page shows, as data (spec 1.7).
func (a *api) getStatus(w http.ResponseWriter, _ *http.Request) { sendJSON(w, a.Status()) }

// getOverrides lists the overrides by instance id.
func (a *api) getOverrides(w http.ResponseWriter, _ *http.Request) {
	a.mu.RLock()
	all := make(map[string]string, len(a.overrides.of))
	for key, o := range a.overrides.of {
		all[key.id] = o.status.String()
	}
	a.mu.RUnlock()
	sendJSON(w, all)
}

// getHealth is STARTING while the list may be partial.
func (a *api) getHealth(w http.ResponseWriter, _ *http.Request) {
	if a.gated.Load() || !a.opened.Load() {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// getGhosts lists the instances whose leases have run out and that self-preservation
// keeps; "?app=" narrows it.
func (a *api) getGhosts(w http.ResponseWriter, req *http.Request) {
	sendJSON(w, map[string][]string{"ghosts": labels(a.ghosts(ghostApp(req)))})
}

// deleteGhosts removes them, here and, as with any removal, at the peers.
func (a *api) deleteGhosts(w http.ResponseWriter, req *http.Request) {
	var removed []instanceKey
	for _, key := range a.ghosts(ghostApp(req)) {
		if a.cancel(key, causeRemoved, false) {
			removed = append(removed, key)
		}
	}
	a.log.Info("ghosts removed", "count", len(removed))
	sendJSON(w, map[string][]string{"removed": labels(removed)})
}

func ghostApp(req *http.Request) string { return strings.ToUpper(req.URL.Query().Get("app")) }

func labels(keys []instanceKey) []string {
	all := make([]string, 0, len(keys))
	for _, k := range keys {
		all = append(all, k.String())
	}
	slices.Sort(all)
	return all
}
