package registry_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/registry"
)

// FuzzRequests sends anything anywhere: the handler answers, and the counts that the
// hash is made of stay those of the list.
func FuzzRequests(f *testing.F) {
	f.Add(http.MethodPost, "/eureka/apps/A", document(instance("a", "h:1")))
	f.Add(http.MethodPost, "/eureka/peerreplication/batch/", `{"replicationList":[{"appName":"A","id":"h:1","action":"Cancel"}]}`)
	for _, id := range odd() {
		f.Add(http.MethodPut, "/eureka/v2/apps/A/"+url.PathEscape(id)+"?lastDirtyTimestamp=1", "")
	}
	for _, path := range []string{"/", "//", "/eureka", "/v2/", "/eureka/v1//apps/", "/eureka/apps/%2F/%zz", "/eureka/apps/A/h:1/status?value=UP", "/eureka/apps/A/h:1/metadata?a=b"} {
		f.Add(http.MethodPut, path, "")
		f.Add(http.MethodGet, path, "")
		f.Add(http.MethodDelete, path, "")
	}
	f.Fuzz(func(t *testing.T, method, target, body string) {
		s := registry.DefaultSettings()
		s.Logger = slog.New(slog.DiscardHandler)
		immediate(&s)
		r, err := registry.New(s)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") || strings.HasSuffix(u.Path, "/push") {
			t.Skip()
		}
		h := r.Handler()
		for _, step := range [][3]string{
			{http.MethodPost, "/eureka/apps/A", document(instance("a", "h:1"))}, {method, target, body}, {http.MethodGet, "/eureka/apps", ""},
		} {
			req := &http.Request{Method: step[0], URL: &url.URL{}, Header: http.Header{}, Body: http.NoBody}
			if req.URL, err = url.ParseRequestURI(step[1]); err != nil {
				t.Skip()
			}
			if step[2] != "" {
				req = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(step[2]))
				req.Method, req.URL = step[0], &url.URL{Path: step[1]}
			}
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code < 200 || w.Code > 599 {
				t.Errorf("%s %s: %d", step[0], step[1], w.Code)
			}
		}
		if list := r.Applications(); list.HashCode != list.Hash() {
			t.Errorf("hash %s of a list with %s", list.HashCode, list.Hash())
		}
	})
}
