package admin

import (
	"net/http"
	"strings"
)

// link is one entry of the index.
type link struct {
	name, path string
	templated  bool
}

// linkTo names the link to a part of an endpoint as Spring does:
// "health-liveness", "metrics-name".
func linkTo(id, path, full string) link {
	if path == anyName {
		path, full = "/{name}", strings.TrimSuffix(full, anyName)+"/{name}"
	}
	name := strings.Trim(path, "/{}")
	l := link{name: id, path: full, templated: strings.Contains(path, "{")}
	if name != "" {
		l.name += "-" + name
	}
	return l
}

// index lists the endpoints that are exposed.
func (a *api) index(w http.ResponseWriter, r *http.Request) {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	list := object{}
	for _, l := range append([]link{{"self", a.settings.BasePath, false}}, a.links...) {
		list.set(l.name, map[string]any{"href": scheme + r.Host + l.path, "templated": l.templated})
	}
	write(w, http.StatusOK, map[string]any{"_links": &list})
}
