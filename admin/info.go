package admin

import (
	"net/http"
	"runtime"
)

func (a *api) info(w http.ResponseWriter, _ *http.Request) {
	type version struct {
		Version string `json:"version"`
	}
	write(w, http.StatusOK, struct {
		Build version `json:"build"`
		Go    version `json:"go"`
	}{version{a.settings.Version}, version{runtime.Version()}})
}
