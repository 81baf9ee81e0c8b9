package admin

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/routing"
)

// details is the long form of a route (zuul.md 9.1).
type details struct {
	ID                     string   `json:"id"`
	FullPath               string   `json:"fullPath"`
	Location               string   `json:"location"`
	Path                   string   `json:"path"`
	Prefix                 string   `json:"prefix,omitempty"`
	Retryable              bool     `json:"retryable"`
	SensitiveHeaders       []string `json:"sensitiveHeaders,omitempty"`
	CustomSensitiveHeaders bool     `json:"customSensitiveHeaders"`
	PrefixStripped         bool     `json:"prefixStripped"`
}

// routes shows the short form, or the long one for /routes/details and
// ?format=details.
func (a *api) routes(w http.ResponseWriter, r *http.Request) {
	long := strings.EqualFold(mux.Vars(r)["format"], "details") || strings.EqualFold(r.URL.Query().Get("format"), "details")
	a.list(w, long)
}

// refresh loads the configuration again and shows the routes that follow from
// it. If that fails, the routes stay and the answer says why.
func (a *api) refresh(w http.ResponseWriter, r *http.Request) {
	if _, err := a.view.Refresh(r.Context()); err != nil {
		fail(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	a.list(w, false)
}

// list writes the routes in order; of two with the same full path the last one
// is shown.
func (a *api) list(w http.ResponseWriter, long bool) {
	list := object{}
	for _, route := range a.view.Routes() {
		if long {
			list.set(route.FullPath, detailsOf(route))
		} else {
			list.set(route.FullPath, redact(route.Location))
		}
	}
	write(w, http.StatusOK, &list)
}

func detailsOf(r *routing.Route) details {
	return details{
		ID:                     r.ID,
		FullPath:               r.FullPath,
		Location:               redact(r.Location),
		Path:                   r.LocalPath,
		Prefix:                 r.Prefix,
		Retryable:              r.Retryable,
		SensitiveHeaders:       r.SensitiveHeaders,
		CustomSensitiveHeaders: r.CustomSensitiveHeaders,
		PrefixStripped:         r.StripPrefix,
	}
}

// redact hides the credentials and the query of a URL.
func redact(location string) string {
	u, err := url.Parse(location)
	switch {
	case err != nil:
		return "(not a URL)"
	case u.User == nil && u.RawQuery == "":
		return location
	}
	if u.User != nil {
		u.User = url.User("xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	return u.String()
}
