package gozer_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// What was read from files stays when they break, also over a reload; new files have to
// be good.
func TestReloadWithBrokenCertificates(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	upstream := httptest.NewUnstartedServer(says("secret"))
	upstream.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue("127.0.0.1").TLS}}
	upstream.StartTLS()
	defer upstream.Close()
	authorities := ca.Write()
	yaml := func(file string) string {
		return usersAt(patient+fmt.Sprintf("gateway.tls: {users: {trust-certificate: %q}}\n", file), upstream.URL)
	}
	logger, lines := messages(16)
	g := newGateway(t, yaml(authorities), gozer.WithLogger(logger))
	wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "secret")

	if err := os.WriteFile(authorities, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	reload(t, g, yaml(authorities))
	reload(t, g, yaml(authorities))
	wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "secret")
	if line := <-lines; !strings.Contains(line, "the old ones stay") || len(lines) > 0 {
		t.Errorf("%q, and %d further lines", line, len(lines))
	}
	if err := g.Reload(parse(t, yaml("/nowhere"))); err == nil || !strings.Contains(err.Error(), "gateway.tls.users.trust-certificate: /nowhere: no such file") {
		t.Errorf("%v, want the key and the file", err)
	}
	if _, err := gozer.New(parse(t, yaml(authorities))); err == nil || !strings.Contains(err.Error(), authorities+": there is no certificate in PEM form in it") {
		t.Errorf("%v, want the file", err)
	}
}

// The log names whose files are meant: that some are renewed says nothing of others.
func TestRenewalIsLoggedByEntry(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	users, orders := ca.Write(), ca.Write()
	yaml := usersAt(fmt.Sprintf("gateway.tls: {users: {trust-certificate: %q}, orders: {trust-certificate: %q}}\n", users, orders), "one:80")
	logger, lines := messages(16)
	g := newGateway(t, yaml, gozer.WithLogger(logger))
	for _, step := range []struct {
		file    string
		content []byte
		want    string
	}{
		{users, []byte("broken"), `level=ERROR msg="certificates of upstreams not renewed, the old ones stay" for=gateway.tls.users error="` + users},
		{orders, certtest.NewCA(t, "new").PEM, `level=INFO msg="certificates of upstreams renewed" for=gateway.tls.orders`},
	} {
		if err := os.WriteFile(step.file, step.content, 0o600); err != nil {
			t.Fatal(err)
		}
		g.RenewTLS()
		if line := <-lines; !strings.Contains(line, step.want) || len(lines) > 0 {
			t.Errorf("%s, and %d further lines, want %s", line, len(lines), step.want)
		}
	}
	wantCertificates(t, g, map[string]string{"": "FILES_UNUSABLE", "gateway.tls.users trust-certificate": "FILES_UNUSABLE"})
}

func TestFailedSessionsAreLoggedOnceAMinute(t *testing.T) {
	var l gozer.FailureLog
	now := time.Now()
	steps := []struct {
		pool, address string
		cause         tlsout.Cause
		after         time.Duration
		want          bool
	}{
		{"a", "h:1", tlsout.Expired, 0, true},
		{"a", "h:1", tlsout.Expired, 59 * time.Second, false},
		{"a", "h:2", tlsout.Expired, 59 * time.Second, true},
		{"a", "h:1", tlsout.Closed, 59 * time.Second, true},
		{"b", "h:1", tlsout.Expired, 59 * time.Second, true},
		{"a", "h:1", tlsout.Expired, time.Minute, true},
	}
	for _, s := range steps {
		if got := l.IsNews(s.pool, s.address, s.cause, now.Add(s.after)); got != s.want {
			t.Errorf("%v: %t", s, got)
		}
	}
	for n := range 5000 {
		l.IsNews("a", strconv.Itoa(n), tlsout.Expired, now)
	}
	if n := l.Remembered(); n > 1024 {
		t.Errorf("%d failures are remembered", n)
	}
}
