package config

import (
	"crypto/tls"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// SSL is server.ssl.* or management.server.ssl.*.
type SSL struct {
	// Enabled is nil unless written out: a certificate switches TLS on.
	Enabled                 *bool
	Certificate, PrivateKey string // files; both empty for none
	ClientAuth              string // "none", "want" or "need"
	TrustCertificate        string // file
	// MinVersion and MaxVersion are those of package tls; MaxVersion 0 means the newest.
	MinVersion, MaxVersion uint16
	Ciphers                []uint16 // up to TLS 1.2; nil means Go's choice
}

// On tells whether the management listener speaks TLS. That of the proxy may have its
// certificates elsewhere: see [Config.TLS].
func (s *SSL) On() bool { return s.on(s.Certificate != "") }

func (s *SSL) on(certified bool) bool { return certified && (s.Enabled == nil || *s.Enabled) }

// TLS tells whether the proxy's listener speaks TLS.
func (c *Config) TLS() bool {
	return c.Server.SSL.on(c.Server.SSL.Certificate != "" || len(c.Gateway.SSL.Certificates) > 0)
}

// GatewaySSL is gateway.ssl.*: what Spring has no keys for.
type GatewaySSL struct {
	Certificates map[string]*Certificate // by name
	// WatchInterval is the time between two looks at the files, also at those of
	// server.ssl and management.server.ssl; 0 means none.
	WatchInterval  time.Duration
	TicketRotation time.Duration
	StrictHost     *bool // nil means: with client certificates
	ClientHeader   string
	ClientFormat   string // PEMFormat, SubjectFormat, XFCCFormat or RFC9440Format
	RedirectPort   int    // -1 means no listener, 0 any free port
	RedirectTo     int    // 0 means server.port
	RedirectStatus int
	RedirectHosts  []string // beside those of the certificates
	HSTS           HSTS
}

// The values of gateway.ssl.client-certificate-format.
const (
	PEMFormat     = "pem"
	SubjectFormat = "subject"
	XFCCFormat    = "xfcc"
	RFC9440Format = "rfc9440"
)

// Certificate is one entry of gateway.ssl.certificates.
type Certificate struct {
	Certificate, PrivateKey string   // files
	Hosts                   []string // empty means those that the certificate names
}

// HSTS is gateway.ssl.hsts.*.
type HSTS struct {
	MaxAge            time.Duration // 0 means no header
	IncludeSubDomains bool
	Preload           bool
}

// checkSSL finds what no single key of TLS shows.
func (b *builder) checkSSL() {
	c := b.config
	b.checkListenerSSL("server.ssl.", &c.Server.SSL, c.TLS())
	b.checkListenerSSL("management.server.ssl.", &c.Management.SSL, c.Management.SSL.On())
	for _, name := range slices.Sorted(maps.Keys(c.Gateway.SSL.Certificates)) {
		prefix := "gateway.ssl.certificates." + name + "."
		own := c.Gateway.SSL.Certificates[name]
		b.checkPair(prefix, own.Certificate, own.PrivateKey)
	}
	b.checkRedirect()
	for _, key := range []string{"gateway.ssl.hsts.max-age", "gateway.ssl.client-certificate-header"} {
		if s := b.setting(key); s != nil && !c.TLS() && !s.empty() {
			b.report.warnf(s.name(), s.at, "has no effect without TLS (server.ssl)")
		}
	}
}

// empty tells whether a setting leaves things as they are by default.
func (s *setting) empty() bool { return s.value.text == "" || s.value.text == "0" }

func (b *builder) checkListenerSSL(prefix string, s *SSL, on bool) {
	b.checkPair(prefix, s.Certificate, s.PrivateKey)
	if at := b.setting(prefix + "enabled"); at != nil && s.Enabled != nil && *s.Enabled && !on {
		b.report.errorf(at.name(), at.at, "needs a certificate (%scertificate)", prefix)
	}
	b.checkClientAuth(prefix, s, on)
	if at := b.setting(prefix + "enabled-protocols"); at != nil && s.MinVersion < tls.VersionTLS12 {
		b.report.warnf(at.name(), at.at, "lets clients use versions before TLSv1.2, which are not secure")
	}
	if at := b.setting(prefix + "ciphers"); at != nil && s.MinVersion >= tls.VersionTLS13 {
		b.report.warnf(at.name(), at.at, "has no effect with TLSv1.3, whose cipher suites are fixed")
	}
}

func (b *builder) checkClientAuth(prefix string, s *SSL, on bool) {
	at := b.firstOf(prefix+"client-auth", prefix+"trust-certificate")
	switch {
	case at == nil:
	case s.ClientAuth != "none" && s.TrustCertificate == "":
		b.report.errorf(at.name(), at.at, "needs %strust-certificate: the authorities that clients' certificates are from", prefix)
	case s.ClientAuth == "none" && s.TrustCertificate != "":
		b.report.warnf(at.name(), at.at, "has no effect without %sclient-auth", prefix)
	case s.ClientAuth != "none" && !on:
		b.report.warnf(at.name(), at.at, "has no effect without a certificate")
	}
}

func (b *builder) checkPair(prefix, certificate, key string) {
	s := b.firstOf(prefix+"certificate", prefix+"certificate-private-key", prefix+"hosts")
	further := strings.HasPrefix(prefix, "gateway.")
	if s != nil && ((certificate == "") != (key == "") || further && certificate == "") {
		b.report.errorf(s.name(), s.at, "needs both certificate and certificate-private-key")
	}
}

func (b *builder) checkRedirect() {
	s := b.setting("gateway.ssl.redirect-port")
	port := b.config.Gateway.SSL.RedirectPort
	switch {
	case s == nil || port < 0:
	case !b.config.TLS():
		b.report.errorf(s.name(), s.at, "needs TLS on the proxy's port (server.ssl)")
	case port > 0 && (port == b.config.Server.Port || port == b.config.Management.Port):
		b.report.errorf(s.name(), s.at, "port %d has another listener already", port)
	}
}

// versionOf reads Spring's names.
func versionOf(v *node) (uint16, error) {
	name, err := filled(v)
	if err != nil {
		return 0, err
	}
	version, ok := map[string]uint16{
		"tlsv1.3": tls.VersionTLS13, "tlsv1.2": tls.VersionTLS12, "tlsv1.1": tls.VersionTLS11, "tlsv1": tls.VersionTLS10,
	}[strings.ToLower(name)]
	if !ok {
		return 0, fault(v, "is none of TLSv1.3, TLSv1.2, TLSv1.1, TLSv1")
	}
	return version, nil
}

func setProtocols(s *SSL, v *node) error {
	versions, err := each(v, versionOf)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return errors.New("the list is empty")
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	low, high := versions[0], versions[len(versions)-1]
	if int(high-low) != len(versions)-1 {
		return errors.New("leaves out a version between others, which is not possible")
	}
	s.MinVersion, s.MaxVersion = low, high
	return nil
}

func setCiphers(s *SSL, v *node) error {
	suites, err := each(v, cipherOf)
	if err == nil {
		s.Ciphers = suites
	}
	return err
}

func cipherOf(v *node) (uint16, error) {
	name, err := filled(v)
	if err != nil {
		return 0, err
	}
	for _, suite := range tls.CipherSuites() {
		if strings.EqualFold(suite.Name, name) {
			return suite.ID, nil
		}
	}
	for _, suite := range tls.InsecureCipherSuites() {
		if strings.EqualFold(suite.Name, name) {
			return 0, fault(v, "is not supported: it is not secure")
		}
	}
	return 0, fault(v, "is not a known cipher suite; the names are those of IANA, such as TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")
}
