package registry

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/mux"
)

// api serves one version of the protocol; the versions differ in XML only.
type api struct {
	*Registry
	v1     bool
	router *mux.Router
}

// Handler serves the REST API below /eureka, /eureka/v2 and /v2, the status page and
// what is ours, all behind the context path. It may be called before Run.
func (r *Registry) Handler() http.Handler {
	v2, v1 := r.api(false), r.api(true)
	pages := r.pages()
	context := strings.TrimRight("/"+strings.Trim(r.settings.ContextPath, "/"), "/")
	protection := http.NewCrossOriginProtection() // a web page must not change the list of its reader's registry
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if fromRegistry(req) {
			w.Header().Set(idHeader, r.id)
		}
		path, ok := strings.CutPrefix(req.URL.EscapedPath(), context)
		if !ok || path != "" && path[0] != '/' {
			http.NotFound(w, req)
			return
		}
		path, root := cutRoot(path)
		switch root {
		case rootNone:
			pages.ServeHTTP(w, relocated(req, path))
		case rootV1:
			v1.ServeHTTP(w, relocated(req, path))
		default:
			v2.ServeHTTP(w, relocated(req, path))
		}
	}))
}

// idHeader tells peers which process they have reached, so that a registry that
// reaches itself under a name it did not know notices.
const idHeader = "X-Gozer-Registry"

type root uint8

const (
	rootNone root = iota
	rootV1
	rootV2
)

// cutRoot takes /eureka, /v1 and /v2 off the front (spec 1.1), and slashes off the
// end.
func cutRoot(path string) (string, root) {
	found := rootNone
	rest, ok := cutSegment(path, "eureka")
	if ok {
		path, found = rest, rootV2
	}
	if rest, ok := cutSegment(path, "v2"); ok {
		path, found = rest, rootV2
	} else if rest, ok := cutSegment(path, "v1"); ok {
		path, found = rest, rootV1
	}
	if path = strings.TrimRight(path, "/"); path == "" {
		path = "/"
	}
	return path, found
}

func cutSegment(path, name string) (string, bool) {
	if len(path) <= len(name) || path[0] != '/' || !strings.EqualFold(path[1:len(name)+1], name) {
		return "", false
	}
	rest := path[len(name)+1:]
	return rest, rest == "" || rest[0] == '/'
}

// relocated is the request with another path, given in its escaped form.
func relocated(req *http.Request, path string) *http.Request {
	moved := *req
	moved.URL = &url.URL{Path: path, RawPath: path, RawQuery: req.URL.RawQuery}
	if plain, err := url.PathUnescape(path); err == nil {
		moved.URL.Path = plain
	}
	return &moved
}

func (r *Registry) api(v1 bool) *api {
	a := &api{Registry: r, v1: v1, router: mux.NewRouter().SkipClean(true).UseEncodedPath()}
	a.router.NotFoundHandler = http.HandlerFunc(empty(http.StatusNotFound))
	a.router.MethodNotAllowedHandler = http.HandlerFunc(empty(http.StatusMethodNotAllowed))
	a.router.Handle("/apps/{app}/{id}", methods{
		http.MethodPut: a.write(a.putHeartbeat), http.MethodGet: a.read(a.getInstance), http.MethodDelete: a.write(a.deleteInstance),
	})
	a.router.Handle("/apps", methods{http.MethodGet: a.read(a.limited(fetchFull, a.gate(a.getAll)))})
	a.router.Handle("/apps/delta", methods{http.MethodGet: a.read(a.limited(fetchDelta, a.gate(a.getDelta)))})
	a.router.Handle("/apps/{app}", methods{http.MethodGet: a.read(a.limited(fetchApp, a.gate(a.getApp))), http.MethodPost: a.write(a.postInstance)})
	a.router.Handle("/apps/{app}/{id}/status", methods{http.MethodPut: a.write(a.putStatus), http.MethodDelete: a.write(a.deleteStatus)})
	a.router.Handle("/apps/{app}/{id}/metadata", methods{http.MethodPut: a.write(a.putMetadata)})
	a.router.Handle("/vips/{vip}", methods{http.MethodGet: a.read(a.gate(a.getVIP))})
	a.router.Handle("/svips/{vip}", methods{http.MethodGet: a.read(a.gate(a.getSecureVIP))})
	a.router.Handle("/instances/{id}", methods{http.MethodGet: a.read(a.getInstanceByID)})
	a.router.Handle("/peerreplication/batch", methods{http.MethodPost: a.allow(need{right: rightReplicate}, a.postBatch)})
	a.router.Handle("/asg/{name}/status", methods{http.MethodPut: a.allow(need{right: rightAdminister}, empty(http.StatusBadRequest))})
	a.router.Handle("/status", methods{http.MethodGet: a.allow(need{}, a.getStatus)})
	a.router.Handle("/serverinfo/statusoverrides", methods{http.MethodGet: a.allow(need{}, a.getOverrides)})
	a.router.Handle("/healthcheck", methods{http.MethodGet: a.getHealth})
	a.router.Handle("/push", methods{http.MethodGet: a.allow(need{}, a.getPush)})
	a.router.Handle("/ghosts", methods{http.MethodGet: a.allow(need{}, a.getGhosts), http.MethodDelete: a.allow(need{right: rightAdminister}, a.deleteGhosts)})
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, req *http.Request) { a.router.ServeHTTP(w, req) }

// methods chooses a handler by the request's method.
type methods map[string]http.HandlerFunc

func (m methods) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h := m[method]; h != nil {
		h(w, req)
		return
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	w.Header().Set("Allow", strings.Join(names, ", "))
	w.WriteHeader(http.StatusMethodNotAllowed)
}

// empty answers with nothing but a status.
func empty(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// keyOf reads the instance that a path names; each segment is decoded once.
func keyOf(req *http.Request) instanceKey {
	return instanceKey{appOf(req), segment(req, "id")}
}

func appOf(req *http.Request) string { return strings.ToUpper(segment(req, "app")) }

func segment(req *http.Request, name string) string {
	raw := mux.Vars(req)[name]
	if plain, err := url.PathUnescape(raw); err == nil {
		return plain
	}
	return raw
}

// fromRegistry reports whether another registry asks, by what it says of itself.
func fromRegistry(req *http.Request) bool {
	return req.Header.Get("DiscoveryIdentity-Name") == "DefaultServer"
}

// replicated reports whether a peer passes on what it was told.
func replicated(req *http.Request) bool {
	return req.Header.Get("X-Netflix-Discovery-Replication") == "true"
}
