package telemetry

import "github.com/gozer-gateway/gozer/internal/certs"

// Certificates is the part about the listeners that speak TLS: what they show, until when,
// and which handshakes come to nothing; and about what is shown to servers.
func Certificates(stores func() []*certs.Store, outward func() []certs.Info) Part {
	return func(e *Emitter) {
		certificates(e, outward())
		for _, s := range stores() {
			if shown := s.Certificates(); len(shown) > 0 {
				certificates(e, shown)
				handshakes(e, s.Listener(), s.Counts())
			}
		}
	}
}

func certificates(e *Emitter, shown []certs.Info) {
	for _, c := range shown {
		labels := []string{labelListener, c.Listener, "name", c.Name}
		e.Gauge("gozer_certificate_ends_timestamp_seconds", "When the first certificate of a chain in force ends.", float64(c.Until.Unix()), labels...)
		e.Gauge("gozer_certificate_unusable", "1 while the files of a certificate cannot be used and the old ones stay.", one(c.Problem != ""), labels...)
	}
}

const labelListener = "listener"

func handshakes(e *Emitter, listener string, c certs.Counts) {
	e.Counter("gozer_tls_client_hellos_total", "TLS handshakes that have begun.", float64(c.Hellos), labelListener, listener)
	e.Counter("gozer_certificates_replaced_total", "Certificates that have taken the place of another.", float64(c.Replaced), labelListener, listener)
	for reason, n := range c.Failures {
		e.Counter("gozer_tls_failures_total", "TLS handshakes that came to nothing.", float64(n), labelListener, listener, "reason", reason)
	}
}
