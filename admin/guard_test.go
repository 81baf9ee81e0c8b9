package admin_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/admin"
)

func TestGuard(t *testing.T) {
	const token = "a-token-of-management"
	open, closed := admin.Guard{Open: true}, admin.Guard{}
	withToken, everything := admin.Guard{Open: true, Token: token}, admin.Guard{Token: token, Reads: true}
	const bearer = "Bearer " + token
	tests := map[string]struct {
		guard         admin.Guard
		request       string
		authorization string
		certificate   bool
		want          int
	}{
		"loopback, a write":                       {open, "POST /actuator/routes", "", false, 200},
		"elsewhere, a write":                      {closed, "POST /actuator/routes", "", false, 403},
		"elsewhere, a write to the old path":      {closed, "POST /routes", "", false, 403},
		"elsewhere, a write with any token":       {closed, "POST /actuator/routes", "Bearer ", false, 403},
		"elsewhere, a write that there is not":    {closed, "DELETE /actuator/none", "", false, 403},
		"elsewhere, a write with a certificate":   {closed, "POST /actuator/routes", "", true, 200},
		"elsewhere, a read":                       {closed, "GET /actuator/routes", "", false, 200},
		"with a token, a write without":           {withToken, "POST /actuator/routes", "", false, 401},
		"with a token, a write":                   {withToken, "POST /actuator/routes", bearer, false, 200},
		"with a token, in other letters":          {withToken, "POST /actuator/routes", "bearer " + token, false, 200},
		"with a token, a wrong one":               {withToken, "POST /actuator/routes", bearer + "x", false, 401},
		"with a token, a part of it":              {withToken, "POST /actuator/routes", bearer[:20], false, 401},
		"with a token, another scheme":            {withToken, "POST /actuator/routes", "Basic " + token, false, 401},
		"with a token, a write by certificate":    {withToken, "POST /actuator/routes", "", true, 200},
		"with a token, a read":                    {withToken, "GET /actuator/routes", "", false, 200},
		"everything is guarded, a read":           {everything, "GET /actuator/routes", "", false, 401},
		"everything is guarded, a read with it":   {everything, "HEAD /actuator/routes", bearer, false, 200},
		"everything is guarded, liveness":         {everything, "GET /actuator/health/liveness", "", false, 200},
		"everything is guarded, readiness":        {everything, "GET /actuator/health/readiness", "", false, 200},
		"everything is guarded, health":           {everything, "GET /actuator/health", "", false, 401},
		"everything is guarded, a path like that": {everything, "GET /actuator/health/liveness/../../routes", "", false, 401},
		"everything is guarded, a write there":    {everything, "POST /actuator/health/liveness", "", false, 401},
	}
	for name, test := range tests {
		t.Run("C225 "+name, func(t *testing.T) {
			s := admin.Settings{BasePath: "/actuator", Include: []string{"*"}, Guard: test.guard}
			refreshed := false
			g := &gateway{refresh: func() error { refreshed = true; return nil }}
			method, target, _ := strings.Cut(test.request, " ")
			r := httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody)
			if test.authorization != "" {
				r.Header.Set("Authorization", test.authorization)
			}
			if test.certificate {
				r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}
			}
			w := httptest.NewRecorder()
			admin.New(s, g).ServeHTTP(w, r)
			if w.Code != test.want || refreshed != (test.want == 200 && method == http.MethodPost) {
				t.Errorf("%d, refreshed %v: %s", w.Code, refreshed, w.Body)
			}
			if strings.Contains(w.Body.String(), token) || (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
				t.Errorf("%v %s", w.Header(), w.Body)
			}
		})
	}
}

// Who is refused is told what would help here.
func TestGuardSaysWhatHelps(t *testing.T) {
	const token = "a-token-of-management"
	for name, row := range map[string]struct {
		guard     admin.Guard
		has, lack string
	}{
		"nothing is configured":    {admin.Guard{}, "management.server.token or management.server.ssl.client-auth", "a client certificate"},
		"certificates are asked":   {admin.Guard{Certificates: true}, "this needs a client certificate", "management.server.token"},
		"a token":                  {admin.Guard{Token: token}, "Authorization: Bearer", "certificate"},
		"a token and certificates": {admin.Guard{Token: token, Certificates: true}, "or a client certificate", token},
	} {
		t.Run("C225 "+name, func(t *testing.T) {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/actuator/routes", http.NoBody)
			admin.New(admin.Settings{BasePath: "/actuator", Include: []string{"*"}, Guard: row.guard}, &gateway{}).ServeHTTP(w, r)
			if got := w.Body.String(); !strings.Contains(got, row.has) || strings.Contains(got, row.lack) {
				t.Errorf("%s, want %q without %q", got, row.has, row.lack)
			}
		})
	}
}

func TestGuardOfCertificatesThatNobodyVerified(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/actuator/routes", http.NoBody)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}
	w := httptest.NewRecorder()
	admin.New(admin.Settings{BasePath: "/actuator", Include: []string{"*"}}, &gateway{}).ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The guard and the endpoints see the same path, decoded once.
func TestC249Decoding(t *testing.T) {
	s := admin.Settings{BasePath: "/actuator", Include: []string{"*"}, Guard: admin.Guard{Token: "a-token-of-management", Reads: true}}
	open := s
	open.Guard = admin.Guard{Open: true}
	for _, target := range []string{
		"/%2561ctuator/routes", "/actuator/%2572outes", "/actuator/..%2f..%2fetc%2fpasswd", "/actuator/health/liveness%2f..%2f..%2froutes",
		"/actuator/health/liveness/../../routes", "/actuator/health%252fliveness", "/actuator/health/..%5croutes", "//actuator/routes", "/actuator/./routes",
		"/actuator/hystrix%252fstream", "/hystrix/%252e%252e/",
	} {
		for settings, want := range map[*admin.Settings]int{&s: http.StatusUnauthorized, &open: http.StatusNotFound} {
			w := httptest.NewRecorder()
			admin.New(*settings, &gateway{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
			if w.Code != want {
				t.Errorf("%s: %d %s, want %d", target, w.Code, w.Body, want)
			}
		}
	}
}

// A name of the page's own that leads to this host makes the page no better.
func TestGuardAgainstRebinding(t *testing.T) {
	for host, want := range map[string]int{
		"evil.test:8081": 403, "localhost.evil.test": 403, "127.0.0.1.evil.test:8081": 403, "": 403,
		"localhost:8081": 200, "127.0.0.1:8081": 200, "[::1]:8081": 200, "gateway.localhost": 200,
	} {
		for origin, want := range map[string]int{"http://" + host: want, "": 200} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/actuator/routes", http.NoBody)
			r.Host = host
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
			w := httptest.NewRecorder()
			admin.New(admin.Settings{BasePath: "/actuator", Include: []string{"*"}, Guard: admin.Guard{Open: true}}, &gateway{refresh: func() error { return nil }}).ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("C225 host %q, origin %q: %d %s, want %d", host, origin, w.Code, w.Body, want)
			}
		}
	}
}
