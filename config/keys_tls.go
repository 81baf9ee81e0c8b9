package config

import (
	"strconv"
	"time"
)

func sslKeys() []Key {
	server := func(b *builder, _ []string) *SSL { return &b.config.Server.SSL }
	management := func(b *builder, _ []string) *SSL { return &b.config.Management.SSL }
	keys := lift("server.ssl.", server, sslRows("server.ssl.", "the proxy's port")...)
	keys = append(keys, lift("management.server.ssl.", management, sslRows("management.server.ssl.", "the management port")...)...)
	return append(keys, gatewaySSLKeys()...)
}

const (
	convert = "Java key stores are not read; `openssl pkcs12 -in store.p12 -nokeys -out tls.crt` and `… -nocerts -nodes -out tls.key` make PEM files of PKCS12 " +
		"(of JKS after `keytool -importkeystore -deststoretype pkcs12`) for `certificate` and `certificate-private-key`"
	convertTrust = "Java key stores are not read; `openssl pkcs12 -in trust.p12 -nokeys -out ca.crt` makes a PEM file for `trust-certificate`"
)

func sslRows(prefix, port string) []row[SSL] {
	return []row[SSL]{
		optional("enabled", "(true with a certificate)", "TLS on "+port, func(s *SSL) **bool { return &s.Enabled }),
		text("certificate", "", "file (PEM) of the certificate and its chain", func(s *SSL) *string { return &s.Certificate }),
		text("certificate-private-key", "", "file (PEM) of its key, not encrypted", func(s *SSL) *string { return &s.PrivateKey }),
		choice("client-auth", "none", "whether clients show certificates: not asked, verified if there is one, or required", []string{"none", "want", "need"}, func(s *SSL) *string { return &s.ClientAuth }),
		text("trust-certificate", "", "file (PEM) of the authorities that clients' certificates are from", func(s *SSL) *string { return &s.TrustCertificate }),
		{name: "enabled-protocols", kind: "list", def: "TLSv1.2, TLSv1.3", doc: "versions that are spoken", set: setProtocols},
		{name: "ciphers", kind: "list", def: "(those of Go)", doc: "cipher suites up to TLSv1.2 by their IANA names; the order has no meaning", set: setCiphers},
		only[SSL](Ignored, "protocol", "TLS", "use `enabled-protocols`"),
		dead[SSL](Refused, "key-store", convert),
		dead[SSL](Refused, "key-store-password", convert),
		dead[SSL](Refused, "key-store-type", convert),
		dead[SSL](Refused, "key-store-provider", convert),
		dead[SSL](Refused, "key-alias", convert),
		dead[SSL](Refused, "key-password", "encrypted keys are not read; `openssl pkey -in tls.key -out plain.key` decrypts one"),
		dead[SSL](Refused, "trust-store", convertTrust),
		dead[SSL](Refused, "trust-store-password", convertTrust),
		dead[SSL](Refused, "trust-store-type", convertTrust),
		dead[SSL](Refused, "trust-store-provider", convertTrust),
		dead[SSL](Refused, "trust-certificate-private-key", "an authority's key is not needed"),
		dead[SSL](Refused, "bundle", "name the files in `"+prefix+"certificate` and `"+prefix+"certificate-private-key`"),
		dead[SSL](Refused, "server-name-bundles.**", "name the files in `gateway.ssl.certificates.<name>`"),
		dead[SSL](Refused, "**", "of TLS only those listed here"),
	}
}

func gatewaySSLKeys() []Key {
	target := func(b *builder, _ []string) *GatewaySSL { return &b.config.Gateway.SSL }
	keys := lift("gateway.ssl.certificates.<name>.", certificate,
		text("certificate", "", "a further certificate, chosen by the server name that the client asks for; without `server.ssl.certificate` other names are refused", func(c *Certificate) *string { return &c.Certificate }),
		text("certificate-private-key", "", "file (PEM) of its key", func(c *Certificate) *string { return &c.PrivateKey }),
		texts("hosts", "(those in the certificate)", "names that it is for; `*.example.com` stands for one label", func(c *Certificate) *[]string { return &c.Hosts }),
	)
	keys = append(keys, lift("gateway.ssl.", target,
		duration("watch-interval", "5s", "time between two looks at the files of certificates, keys and authorities; 0 means that only a reload reads them", time.Second, 0, func(g *GatewaySSL) *time.Duration { return &g.WatchInterval }),
		duration("ticket-rotation", "12h", "age at which the key of session tickets is replaced; tickets are good for twice as long", time.Second, time.Second, func(g *GatewaySSL) *time.Duration { return &g.TicketRotation }),
		optional("strict-host", "(true with `client-auth`)", "answer 421 when the Host of a request is not the server name of its TLS connection", func(g *GatewaySSL) **bool { return &g.StrictHost }),
		row[GatewaySSL]{name: "client-certificate-header", kind: "header name", doc: "request header that tells upstreams the verified certificate of the client; what clients send under that name is dropped", set: setClientHeader},
		choice("client-certificate-format", PEMFormat, "what stands in it: the URL-encoded certificate as from nginx, its subject, Envoy's `Hash=…;Subject=\"…\"`, or the bytes as RFC 9440 has them", []string{PEMFormat, SubjectFormat, XFCCFormat, RFC9440Format}, func(g *GatewaySSL) *string { return &g.ClientFormat }),
		number("redirect-port", "-1", "port of a listener that redirects to https; -1 means none, 0 any free one", -1, 65535, func(g *GatewaySSL) *int { return &g.RedirectPort }),
		number("redirect-to-port", "(server.port)", "port in the URLs that it redirects to, as clients see it", 1, 65535, func(g *GatewaySSL) *int { return &g.RedirectTo }),
		row[GatewaySSL]{name: "redirect-status", kind: "301, 302, 307, 308", def: "308", doc: "status of these answers", set: setRedirectStatus},
		texts("redirect-hosts", "", "hosts that it redirects to beside those of the certificates; `*.example.com` stands for one label", func(g *GatewaySSL) *[]string { return &g.RedirectHosts }),
		duration("hsts.max-age", "0", "`max-age` of Strict-Transport-Security in responses over TLS; 0 means no such header", time.Second, 0, func(g *GatewaySSL) *time.Duration { return &g.HSTS.MaxAge }),
		boolean("hsts.include-sub-domains", "false", "its `includeSubDomains`", func(g *GatewaySSL) *bool { return &g.HSTS.IncludeSubDomains }),
		boolean("hsts.preload", "false", "its `preload`", func(g *GatewaySSL) *bool { return &g.HSTS.Preload }),
		dead[GatewaySSL](Refused, "**", "of TLS only those listed here"),
	)...)
	return append(keys, lift("management.health.ssl.", root,
		duration("certificate-validity-warning-threshold", "14d", "time before the end of a certificate from which on it is warned of", time.Millisecond, 0, func(c *Config) *time.Duration { return &c.Management.CertificateWarning }),
	)...)
}

func certificate(b *builder, values []string) *Certificate {
	if b.config.Gateway.SSL.Certificates == nil {
		b.config.Gateway.SSL.Certificates = map[string]*Certificate{}
	}
	all := b.config.Gateway.SSL.Certificates
	if all[values[0]] == nil {
		all[values[0]] = &Certificate{}
	}
	return all[values[0]]
}

func setClientHeader(g *GatewaySSL, v *node) error {
	name, err := textOf(v)
	if err == nil && name != "" && !headerName.MatchString(name) {
		err = fault(v, "is no header name")
	}
	if err == nil {
		g.ClientHeader = name
	}
	return err
}

func setRedirectStatus(g *GatewaySSL, v *node) error {
	var status string
	err := choice("", "", "", []string{"301", "302", "307", "308"}, func(*GatewaySSL) *string { return &status }).set(g, v)
	if err == nil {
		g.RedirectStatus, err = strconv.Atoi(status)
	}
	return err
}
