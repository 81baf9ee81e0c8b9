package registry

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

//go:embed page.html
var pageHTML string

//go:embed last.html
var lastHTML string

// pages serves what is no part of the REST API.
func (r *Registry) pages() http.Handler {
	router := mux.NewRouter().SkipClean(true).UseEncodedPath()
	router.NotFoundHandler = http.HandlerFunc(empty(http.StatusNotFound))
	router.MethodNotAllowedHandler = http.HandlerFunc(empty(http.StatusMethodNotAllowed))
	for _, path := range []string{"", "/liveness", "/readiness"} {
		router.Handle("/actuator/health"+path, methods{http.MethodGet: r.actuatorHealth(path == "/readiness")})
	}
	if !r.settings.Dashboard {
		return router
	}
	functions := template.FuncMap{"link": link, "clock": clock}
	home := template.Must(template.New("page").Funcs(functions).Parse(pageHTML))
	last := template.Must(template.New("last").Funcs(functions).Parse(lastHTML))
	path := "/" + strings.Trim(r.settings.DashboardPath, "/")
	router.Handle(path, methods{http.MethodGet: r.allow(need{}, page(home, func() any { return r.homePage() }))})
	router.Handle(strings.TrimRight(path, "/")+"/lastn", methods{http.MethodGet: r.allow(need{}, page(last, func() any { return r.lastPage() }))})
	return router
}

// actuatorHealth is for probes that were written for Spring's registry. Readiness
// fails while reads are refused.
func (r *Registry) actuatorHealth(readiness bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if readiness && r.gated.Load() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"status":"OUT_OF_SERVICE"}`))
			return
		}
		sendJSON(w, map[string]string{"status": "UP"})
	}
}

// page serves a template; nothing on it may come from elsewhere.
func page(t *template.Template, data func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		var b bytes.Buffer
		if err := t.Execute(&b, data()); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		_, _ = w.Write(b.Bytes())
	}
}

// homePage is the data of the status page.
type homePage struct {
	Status
	DataCenter, Now string
	Apps            []pageApp
	More            int // instances that are not shown
}

type pageApp struct {
	Name   string
	Groups []pageGroup
}

// pageGroup is the instances of an application with one status.
type pageGroup struct {
	Status    string
	Bad       bool
	Instances []pageInstance
}

type pageInstance struct {
	ID, URL, Override, Zone string
	Expired                 bool
}

// pageInstances is how many instances the page lists at most.
const pageInstances = 2000

func (r *Registry) homePage() homePage {
	p := homePage{Status: r.Status(), DataCenter: r.settings.DataCenter, Now: time.Now().Format("2006-01-02T15:04:05 -0700")}
	ghosts := map[instanceKey]bool{}
	for _, k := range r.ghosts("") {
		ghosts[k] = true
	}
	shown := 0
	for _, app := range r.Applications().Applications {
		room := max(0, pageInstances-shown)
		instances := app.Instances[:min(room, len(app.Instances))]
		p.More += len(app.Instances) - len(instances)
		shown += len(instances)
		if len(instances) > 0 {
			p.Apps = append(p.Apps, appRow(app.Name, instances, ghosts))
		}
	}
	return p
}

func appRow(name string, instances []*eureka.Instance, ghosts map[instanceKey]bool) pageApp {
	row := pageApp{Name: name}
	for _, i := range instances {
		at := slices.IndexFunc(row.Groups, func(g pageGroup) bool { return g.Status == i.Status.String() })
		if at < 0 {
			at = len(row.Groups)
			row.Groups = append(row.Groups, pageGroup{Status: i.Status.String(), Bad: i.Status != eureka.Up})
		}
		shown := pageInstance{ID: i.Identity(), URL: i.StatusPageURL, Zone: i.Metadata["zone"], Expired: ghosts[instanceKey{name, i.Identity()}]}
		if i.OverriddenStatus != eureka.Unknown {
			shown.Override = i.OverriddenStatus.String()
		}
		row.Groups[at].Instances = append(row.Groups[at].Instances, shown)
	}
	slices.SortFunc(row.Groups, func(a, b pageGroup) int { return strings.Compare(b.Status, a.Status) })
	return row
}

// lastPage is the data of the page of the last leases.
type lastPage struct{ Canceled, Registered []lastLease }

type lastLease struct{ At, Lease, Reason string }

func (r *Registry) lastPage() lastPage {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return lastPage{lastLeases(r.canceled), lastLeases(r.registered)}
}

func lastLeases(past *ring[pastLease]) []lastLease {
	var all []lastLease
	for _, l := range past.newest(rememberedLeases) {
		all = append(all, lastLease{clock(l.at), l.lease, l.reason})
	}
	return all
}

func clock(t time.Time) string { return t.Format("2006-01-02 15:04:05") }

// link returns text if it is an address of the web, else nothing: pages must not
// link to scripts.
func link(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return text
}
