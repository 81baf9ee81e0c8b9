package registry_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gozer-gateway/gozer/registry"
)

// users are an application's, an operator and a peer.
func users(s *registry.Settings) {
	s.Auth.Users = map[string]registry.User{
		"billing":  {Password: "secret", Applications: []string{"billing", "Cart-*"}},
		"operator": {Token: "t0ken", Administer: true},
		"peer":     {Password: "p", Replicate: true},
		"reader":   {Certificate: "reader.test"},
	}
}

func TestAuthentication(t *testing.T) {
	const (
		billing  = "Authorization: Basic YmlsbGluZzpzZWNyZXQ="
		wrong    = "Authorization: Basic YmlsbGluZzpzZWNyZXU="
		peer     = "Authorization: Basic cGVlcjpw"
		operator = "Authorization: Bearer t0ken"
		nobody   = "X-Nothing: x"
	)
	for _, row := range []struct {
		who, method, path string
		want              int
	}{
		{nobody, http.MethodGet, "/eureka/apps", 401},
		{wrong, http.MethodGet, "/eureka/apps", 401},
		{"Authorization: Bearer ", http.MethodGet, "/eureka/apps", 401},
		{"Authorization: Basic cmVhZGVyOg==", http.MethodGet, "/eureka/apps", 401}, // an empty password
		{billing, http.MethodGet, "/eureka/apps", 200},
		{operator, http.MethodGet, "/eureka/apps", 200},
		{"Authorization: bearer t0ken", http.MethodGet, "/eureka/apps", 200},
		{nobody, http.MethodGet, "/", 401},
		{billing, http.MethodGet, "/", 200},
		{nobody, http.MethodGet, "/eureka/push", 401},
		{nobody, http.MethodGet, "/eureka/healthcheck", 200},
		{billing, http.MethodPut, "/eureka/apps/billing/h:1", 404},
		{billing, http.MethodPut, "/eureka/apps/cart-eu/h:1", 404},
		{billing, http.MethodPut, "/eureka/apps/mail/h:1", 403},
		{billing, http.MethodDelete, "/eureka/apps/mail/h:1", 403},
		{billing, http.MethodPost, "/eureka/apps/mail", 403},
		{billing, http.MethodPut, "/eureka/apps/mail/h:1/status?value=UP", 403},
		{billing, http.MethodDelete, "/eureka/ghosts", 403},
		{billing, http.MethodPost, "/eureka/peerreplication/batch", 403},
		{peer, http.MethodPost, "/eureka/peerreplication/batch", 200},
		{peer, http.MethodPut, "/eureka/apps/mail/h:1", 403},
		{operator, http.MethodPut, "/eureka/apps/mail/h:1", 404},
		{operator, http.MethodDelete, "/eureka/ghosts", 200},
	} {
		t.Run(row.who+" "+row.method+" "+row.path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t, users)
				body := ""
				if strings.HasSuffix(row.path, "batch") {
					body = `{"replicationList":[]}`
				}
				got := n.want(row.want, row.method, row.path, body, row.who, sendJSON)
				if asks := got.header.Get("Www-Authenticate") != ""; asks != (row.want == 401) {
					t.Errorf("headers %v", got.header)
				}
				if strings.Contains(got.body+n.log.String(), "secret") {
					t.Errorf("the password is shown: %s %s", got.body, n.log)
				}
			})
		})
	}
	t.Run("only a peer may say that it replicates", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, users)
			n.want(403, http.MethodPut, "/eureka/apps/billing/h:1", "", billing, fromPeer)
			n.want(404, http.MethodPut, "/eureka/apps/billing/h:1", "", peer, fromPeer)
		})
	})
	t.Run("nobody changes another's application by giving its instance's id", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, theirs := start(t, users), instance("mail", "h:1")
			n.want(204, http.MethodPost, "/eureka/apps/MAIL", document(theirs), operator, sendJSON)
			n.want(204, http.MethodPost, "/eureka/apps/BILLING", document(instance("billing", "h:1")), billing, sendJSON)
			n.want(200, http.MethodPut, "/eureka/apps/BILLING/h:1/status?value=OUT_OF_SERVICE", "", billing)
			n.want(200, http.MethodPut, "/eureka/apps/MAIL/h:1", "", operator)
			if got := n.want(200, http.MethodGet, "/eureka/apps/MAIL/h:1", "", operator, asJSON); !strings.Contains(got.body, `"status":"UP"`) {
				t.Error(got.body)
			}
		})
	})
	t.Run("reading may be free", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, users, func(s *registry.Settings) { s.Auth.AnonymousRead = true })
			n.want(200, http.MethodGet, "/eureka/apps", "", nobody)
			n.want(401, http.MethodPut, "/eureka/apps/billing/h:1", "", nobody)
		})
	})
}

func TestCertificates(t *testing.T) {
	s := registry.DefaultSettings()
	users(&s)
	r, err := registry.New(s)
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(cn string, dns ...string) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: cn}, DNSNames: dns}
	}
	for name, row := range map[string]struct {
		state *tls.ConnectionState
		want  int
	}{
		"by its common name":       {&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf("reader.test")}}}, 200},
		"by a DNS name":            {&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf("x", "y", "Reader.test")}}}, 200},
		"another's":                {&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf("other.test")}}}, 401},
		"one that is not verified": {&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf("reader.test")}}, 401},
		"without":                  {&tls.ConnectionState{}, 401},
		"without TLS":              {nil, 401},
	} {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/eureka/apps", http.NoBody)
			req.TLS = row.state
			w := httptest.NewRecorder()
			r.Handler().ServeHTTP(w, req)
			if w.Code != row.want {
				t.Errorf("%d, want %d", w.Code, row.want)
			}
		})
	}
}
