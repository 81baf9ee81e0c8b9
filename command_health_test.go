package gozer_test

import (
	"crypto/tls"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

// A management port that speaks TLS has a certificate of a private authority as a rule, and
// may want to see one.
func TestHealthOverTLS(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	trust, other := ca.Write(), certtest.NewCA(t, "another").Write()
	cert, key := ca.Issue("probe").Write()
	serve := func(host string, auth tls.ClientAuthType) string {
		s := httptest.NewUnstartedServer(says("{}"))
		s.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(host).TLS}, ClientCAs: ca.Pool(), ClientAuth: auth}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	open, guarded, named := serve("127.0.0.1", tls.NoClientCert), serve("127.0.0.1", tls.RequireAndVerifyClientCert), serve("gate.test", tls.NoClientCert)
	for name, row := range map[string]struct {
		args    []string
		code    int
		out, in string // parts of what is printed and of the failure; empty: nothing at all
	}{
		"the system's authorities": {[]string{"--url", open}, 1, "", "unknown authority"},
		"another authority":        {[]string{"--url", open, "--ca", other}, 1, "", "unknown authority"},
		"its authority":            {[]string{"--url", open, "--ca", trust}, 0, "200 OK", ""},
		"no certificate":           {[]string{"--url", guarded, "--ca", trust}, 1, "", "certificate required"},
		"a certificate":            {[]string{"--url", guarded, "--ca", trust, "--cert", cert, "--key", key}, 0, "200 OK", ""},
		"no key":                   {[]string{"--url", guarded, "--ca", trust, "--cert", cert}, 1, "", "--cert: " + cert + ": no file is named for its private key"},
		"another name":             {[]string{"--url", named, "--ca", trust}, 1, "", "127.0.0.1"},
		"its name":                 {[]string{"--url", named, "--ca", trust, "--server-name", "gate.test"}, 0, "200 OK", ""},
		"no such file":             {[]string{"--url", open, "--ca", trust + "x"}, 1, "", "--ca: " + trust + "x: no such file"},
		"an empty name":            {[]string{"--url", open, "--ca", ""}, 2, "", "--ca is empty"},
		"without TLS":              {[]string{"--ca", trust}, 1, "", "begins with https"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errOut strings.Builder
			if code := gozer.Execute(t.Context(), &out, &errOut, append([]string{"health"}, row.args...), gozer.WithHealthPatience(time.Minute)); code != row.code {
				t.Errorf("code %d, want %d", code, row.code)
			}
			wantPart(t, "standard output", out.String(), row.out)
			wantPart(t, "standard error", errOut.String(), row.in)
		})
	}
}
