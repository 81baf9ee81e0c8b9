package gozer_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// strictRegistry serves an empty list over TLS at registry:8761 and notes the certificate that it was
// last shown.
func strictRegistry(t *testing.T, network *memhttp.Network, ca *certtest.CA) (shown *atomic.Pointer[string], stop func()) {
	t.Helper()
	shown = new(atomic.Pointer[string])
	listener, err := network.Listen("registry:8761")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{ca.Issue("registry").TLS}, ClientCAs: ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			serial := r.TLS.PeerCertificates[0].SerialNumber.String()
			shown.Store(&serial)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"applications":{"versions__delta":"1","apps__hashcode":"","application":[]}}`)
		}),
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ServeTLS(listener, "", "") // http.ErrServerClosed
	}()
	return shown, func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	}
}

// What registries are shown is followed like all certificates. Broken files leave what there was.
func TestCertificateForRegistriesIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := certtest.NewCA(t, "ours")
		first, second, third := ca.Issue("edge"), ca.Issue("edge"), ca.Issue("edge")
		certificate, key := first.Write()
		network := memhttp.NewNetwork()
		shown, stop := strictRegistry(t, network, ca)
		var log bytes.Buffer
		p := &place{network: network}
		g := newGateway(t, fmt.Sprintf("eureka.client:\n  service-url.defaultZone: https://registry:8761/eureka/\n  register-with-eureka: false\n"+
			"  tls: {enabled: true, trust-certificate: %q, certificate: %q, certificate-private-key: %q}\n"+
			"management.health.ssl.certificate-validity-warning-threshold: 1m\n", ca.Write(), certificate, key),
			p.listen(), gozer.WithRegistryDial(network.Dial), gozer.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		p.running = run(t, g)
		want := func(pair *certtest.Pair, status string) {
			t.Helper()
			after(time.Minute)
			if got := shown.Load(); got == nil || *got != pair.Cert.SerialNumber.String() {
				t.Errorf("shown %v, want %s", got, pair.Cert.SerialNumber)
			}
			wantCertificates(t, g, map[string]string{"": status, "eureka.client.tls": status})
		}
		want(first, "UP")
		second.Replace(certificate, key)
		want(second, "UP")
		if err := os.WriteFile(key, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		want(second, "FILES_UNUSABLE")
		third.Replace(certificate, key)
		want(third, "UP")
		p.stop()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		stop()
		for message, times := range map[string]int{"certificates for registries renewed": 2, "certificates for registries not renewed": 1} {
			if got := strings.Count(log.String(), message); got != times {
				t.Errorf("%d times %q, want %d: %s", got, message, times, &log)
			}
		}
	})
}
