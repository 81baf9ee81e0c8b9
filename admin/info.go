package admin

import (
	"maps"
	"net/http"
	"runtime"
)

// info shows versions, and what info.* says; that wins.
func (a *api) info(w http.ResponseWriter, _ *http.Request) {
	all := map[string]any{
		"build": map[string]string{"version": a.settings.Version},
		"go":    map[string]string{"version": runtime.Version()},
	}
	maps.Copy(all, a.settings.Info)
	write(w, http.StatusOK, all)
}
