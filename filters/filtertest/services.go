package filtertest

import (
	"net/http"
	"net/http/httptest"

	"github.com/gozer-gateway/gozer/filters"
)

type servicesKey struct{}

// client calls the handler of Services; nil without one.
func client(c *filters.Context) *http.Client {
	h, ok := c.Request.Context().Value(servicesKey{}).(http.Handler)
	if !ok {
		return nil
	}
	return &http.Client{Transport: services{h}, CheckRedirect: noRedirects}
}

func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// services stands for the balancers and servers of the gateway.
type services struct{ handler http.Handler }

func (s services) RoundTrip(r *http.Request) (*http.Response, error) {
	seen := r.Clone(r.Context())
	if seen.Body == nil {
		seen.Body = http.NoBody
	}
	defer seen.Body.Close()
	if seen.Host == "" {
		seen.Host = r.URL.Host
	}
	seen.RequestURI = r.URL.RequestURI()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, seen)
	res := w.Result()
	res.Request = r
	return res, nil
}
