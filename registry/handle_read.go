package registry

import (
	"net/http"
	"strings"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// reader is a handler that answers with a document.
type reader func(w http.ResponseWriter, req *http.Request, f form)

// read wraps what any user may ask for; the answer has the form that the client
// prefers.
func (a *api) read(next reader) http.HandlerFunc {
	return a.allow(need{}, func(w http.ResponseWriter, req *http.Request) {
		f, ok := formOf(req.Header, a.v1)
		if !ok {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		next(w, req, f)
	})
}

// gate refuses reads while the list may be partial, or those of regions that were
// asked for by name and have not been read yet (spec 4.9). Clients go elsewhere.
func (a *api) gate(next reader) reader {
	return func(w http.ResponseWriter, req *http.Request, f form) {
		if a.gated.Load() || !a.regions.ready(a.regionsOf(req)) {
			if fromRegistry(req) {
				a.peers.hear()
			}
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next(w, req, f)
	}
}

func (a *api) getAll(w http.ResponseWriter, req *http.Request, f form) {
	a.counters.getAll.count(false)
	a.ask(w, req, question{kind: askAll, regions: a.regionsOf(req), form: f})
}

func (a *api) getDelta(w http.ResponseWriter, req *http.Request, f form) {
	if a.settings.Cache.DisableDelta {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	a.counters.getDelta.count(false)
	a.ask(w, req, question{kind: askDelta, regions: a.regionsOf(req), form: f})
}

func (a *api) getApp(w http.ResponseWriter, req *http.Request, f form) {
	a.counters.getApp.count(false)
	a.ask(w, req, question{kind: askApp, name: appOf(req), form: f})
}

func (a *api) getVIP(w http.ResponseWriter, req *http.Request, f form) {
	a.ask(w, req, question{kind: askVIP, name: segment(req, "vip"), form: f})
}

func (a *api) getSecureVIP(w http.ResponseWriter, req *http.Request, f form) {
	a.ask(w, req, question{kind: askSecureVIP, name: segment(req, "vip"), form: f})
}

func (a *api) ask(w http.ResponseWriter, req *http.Request, q question) {
	answer := a.answer(q, fresh(req))
	if answer == nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !answer.found {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	a.send(w, req, q.form, answer)
}

// fresh reports whether the client insists on the last change, as those do that have
// just been told of one.
func fresh(req *http.Request) bool {
	for _, v := range req.Header["Cache-Control"] {
		if strings.Contains(v, "no-cache") {
			return true
		}
	}
	return false
}

// regionsOf gives the regions that a request names, as far as there are any.
func (a *api) regionsOf(req *http.Request) string {
	if req.URL.RawQuery == "" {
		return ""
	}
	return a.regions.known(req.URL.Query().Get("regions"))
}

func (a *api) getInstance(w http.ResponseWriter, req *http.Request, f form) {
	i := a.instance(keyOf(req))
	if i == nil {
		i = a.regions.instance(keyOf(req))
	}
	a.sendInstance(w, req, f, i)
}

func (a *api) getInstanceByID(w http.ResponseWriter, req *http.Request, f form) {
	id := segment(req, "id")
	i := a.instanceByID(id)
	if i == nil {
		i = a.regions.instance(instanceKey{id: id})
	}
	a.sendInstance(w, req, f, i)
}

func (a *api) sendInstance(w http.ResponseWriter, req *http.Request, f form, i *eureka.Instance) {
	if i == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	a.send(w, req, f, &answer{plain: f.encoder().AppendInstance(nil, i)})
}
