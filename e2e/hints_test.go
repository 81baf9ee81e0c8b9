package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// startHinting starts an upstream that speaks HTTP/1.1 and HTTP/2 without TLS and puts the
// same fields into an interim response as into the final one.
func startHinting(t *testing.T) (addr string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"Link", "Set-Cookie", "Authorization", "Cookie", "X-Internal", "X-Application-Context", "Proxy-Authenticate"} {
			w.Header().Set(name, "secret")
		}
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusOK)
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// S43, S13, C033: an interim response has no field that the final one would not have.
func TestFieldsOfInterimResponses(t *testing.T) {
	t.Parallel()
	nativeOnly(t)
	addr := startHinting(t)
	g := startGateway(t, bothYAML(addr)+withH2+`
zuul.ignored-headers: X-Internal
zuul.routes.h2: {path: /h2/**}
h2.ribbon: {listOfServers: "`+addr+`", ReadTimeout: 1m}
gateway.upstream.h2.protocol: h2c
`)
	for _, kind := range append([]string{"h2"}, kinds...) {
		t.Run(kind, func(t *testing.T) {
			status, head, _ := message(t, g.talk(lines("GET /"+kind+"/x HTTP/1.1", "Host: gateway.test", "Connection: close")))
			if status != "HTTP/1.1 103 Early Hints" || len(head.Fields) != 1 || head.Values("Link") == nil {
				t.Errorf("%q with %v", status, head)
			}
			a := g.dialH2().ask(get2("/" + kind + "/x")...)
			if len(a.Hints) != 1 || len(a.Hints[0]) != 1 || a.Hints[0].Get("Link") == "" {
				t.Errorf("to HTTP/2: %v", a.Hints)
			}
			for name := range a.Header {
				if strings.Contains(strings.Join(a.Header[name], ""), "secret") && name != "Link" {
					t.Errorf("finally %s", name)
				}
			}
		})
	}
}
