package tlsout_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// server is a TLS server on a socket, which does what serve says with each connection.
type server struct {
	address string
	names   chan string // the SNI of each ClientHello
}

func serve(t *testing.T, config *tls.Config, serve func(net.Conn)) *server {
	t.Helper()
	s := &server{names: make(chan string, 16)}
	if config != nil {
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			s.names <- hello.ServerName
			return nil, nil
		}
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if config != nil {
				conn = tls.Server(conn, config)
			}
			serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-ended })
	return s
}

// greet makes the handshake and waits for the client to go.
func greet(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); !ok || secure.HandshakeContext(context.Background()) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, conn)
}

// shake makes a session with the server under the address, which stands for its own.
func (s *server) shake(t *testing.T, c *tlsout.Client, address string) (*tls.ConnectionState, error) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if address == "" {
		address = s.address
	}
	session, err := c.Handshake(t.Context(), conn, address, time.Minute, "http/1.1")
	if err != nil {
		return nil, err
	}
	state := session.ConnectionState()
	return &state, session.Close()
}

// client trusts the authority and shows the pair, if there is one.
func client(t *testing.T, o tlsout.Options, ca *certtest.CA, pair *certtest.Pair) *tlsout.Client {
	t.Helper()
	f := tlsout.Files{TrustCertificate: ca.Write()}
	if pair != nil {
		f.Certificate, f.PrivateKey = pair.Write()
	}
	var err error
	if o.Material, err = f.Load(); err != nil {
		t.Fatal(err)
	}
	return tlsout.New(o)
}

// Why a session does not come about is told by name, and that nothing was sent.
func TestCauses(t *testing.T) {
	ca, other := certtest.NewCA(t, "ours"), certtest.NewCA(t, "another")
	good, shown := ca.Issue("127.0.0.1", "a.test"), ca.Issue("gateway.test")
	config := func(p *certtest.Pair) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{p.TLS}} }
	mutual := func(version uint16) *tls.Config {
		c := config(good)
		c.ClientAuth, c.ClientCAs, c.MaxVersion = tls.RequireAndVerifyClientCert, ca.Pool(), version
		return c
	}
	for name, row := range map[string]struct {
		config  *tls.Config
		serve   func(net.Conn)
		options tlsout.Settings
		pair    *certtest.Pair
		want    tlsout.Cause
	}{
		"expired":                                  {config: config(ca.Expired("127.0.0.1")), want: tlsout.Expired},
		"not yet valid":                            {config: config(ca.IssueLeaf(certtest.Leaf{Hosts: []string{"127.0.0.1"}, NotBefore: time.Now().Add(time.Hour), NotAfter: time.Now().Add(2 * time.Hour)})), want: tlsout.NotYetValid},
		"wrong address":                            {config: config(ca.Issue("b.test")), want: tlsout.WrongName},
		"wrong name":                               {config: config(good), options: tlsout.Settings{ServerName: "b.test"}, want: tlsout.WrongName},
		"wrong CA":                                 {config: config(other.Issue("127.0.0.1")), want: tlsout.UnknownAuthority},
		"wrong usage":                              {config: config(ca.IssueLeaf(certtest.Leaf{Hosts: []string{"127.0.0.1"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})), want: tlsout.InvalidCertificate},
		"no client certificate, TLS 1.3":           {config: mutual(tls.VersionTLS13), want: tlsout.ClientCertificateRequired},
		"no client certificate, TLS 1.2":           {config: mutual(tls.VersionTLS12), want: tlsout.ClientCertificateRequired},
		"client certificate of another CA, 1.3":    {config: mutual(tls.VersionTLS13), pair: other.Issue("gateway.test"), want: tlsout.ClientCertificateRefused},
		"client certificate of another CA, 1.2":    {config: mutual(tls.VersionTLS12), pair: other.Issue("gateway.test"), want: tlsout.ClientCertificateRefused},
		"expired client certificate":               {config: mutual(tls.VersionTLS13), pair: ca.Expired("gateway.test"), want: tlsout.ClientCertificateRefused},
		"no common version":                        {config: mutual(tls.VersionTLS12), options: tlsout.Settings{MinVersion: tls.VersionTLS13}, pair: shown, want: tlsout.Version},
		"no TLS":                                   {serve: func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, want: tlsout.NotTLS},
		"connection closed":                        {serve: func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }, want: tlsout.Closed},
		"speaks before it is asked, after a proof": {config: mutual(tls.VersionTLS13), pair: shown, serve: func(c net.Conn) { _, _ = io.WriteString(c, "x"); greet(c) }, want: tlsout.Other},
	} {
		t.Run(name, func(t *testing.T) {
			if row.serve == nil {
				row.serve = greet
			}
			if name == "speaks before it is asked, after a proof" {
				row.config.SessionTicketsDisabled = true
			}
			s := serve(t, row.config, row.serve)
			var told []*tlsout.Error
			tally := &tlsout.Tally{}
			c := client(t, tlsout.Options{Settings: row.options, Tally: tally, Failed: func(e *tlsout.Error) { told = append(told, e) }}, ca, row.pair)
			c.AwaitVerdict(time.Minute)
			_, err := s.shake(t, c, "")
			failure, ok := errors.AsType[*tlsout.Error](err)
			if !ok || failure.Cause != row.want || !failure.NothingSent() {
				t.Fatalf("%v, want the cause %s", err, row.want)
			}
			if !strings.Contains(err.Error(), row.want.String()) || !strings.Contains(err.Error(), s.address) {
				t.Errorf("%q tells neither cause nor address", err)
			}
			if full, _ := tally.Handshakes(); tally.Failed(row.want) != 1 || full != 0 || len(told) != 1 {
				t.Errorf("%d counted, %d told, %d good", tally.Failed(row.want), len(told), full)
			}
		})
	}
}

func TestSilentServer(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, nil, func(net.Conn) { <-ended })
	defer close(ended)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = tlsout.New(tlsout.Options{}).Handshake(t.Context(), conn, s.address, 10*time.Millisecond)
	failure, ok := errors.AsType[*tlsout.Error](err)
	if !ok || failure.Cause != tlsout.TimedOut || !failure.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want a timeout that is not the request's", err)
	}
}

// A client that goes away during a handshake is nobody's failure.
func TestCancelledHandshake(t *testing.T) {
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, nil, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); cancel(); <-ended })
	defer close(ended)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tally := &tlsout.Tally{}
	_, err = tlsout.New(tlsout.Options{Tally: tally}).Handshake(ctx, conn, s.address, time.Minute)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the cancellation", err)
	}
	for _, c := range tlsout.Causes() {
		if tally.Failed(c) != 0 {
			t.Errorf("counted as %s", c)
		}
	}
}

func TestClientCertificate(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	shown := ca.Issue("gateway.test")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, auth := range []tls.ClientAuthType{tls.NoClientCert, tls.RequestClientCert, tls.RequireAndVerifyClientCert} {
			for _, silent := range []bool{false, true} {
				s := serve(t, &tls.Config{
					Certificates: []tls.Certificate{ca.Issue("127.0.0.1").TLS}, ClientAuth: auth, ClientCAs: ca.Pool(),
					MaxVersion: version, SessionTicketsDisabled: silent,
				}, greet)
				state, err := s.shake(t, client(t, tlsout.Options{}, ca, shown), "")
				if err != nil || state.Version != version || state.NegotiatedProtocol != "" {
					t.Errorf("%s, %v, without tickets %v: %v", tls.VersionName(version), auth, silent, err)
				}
			}
		}
	}
}

type names map[string]string

func (n *names) TLSName(address string) string { return (*n)[address] }

// C212 Z03: the name that is asked for and verified.
func TestServerName(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	known := &names{"10.0.0.1:443": "b.test."}
	for name, row := range map[string]struct {
		address, override, sni string
	}{
		"host":                           {"a.test:443", "", "a.test"},
		"C209 trailing dot":              {"a.test.:443", "", "a.test"},
		"C209 other case":                {"A.Test:443", "", "a.test"},
		"C209 override":                  {"a.test:443", "C.TEST.", "c.test"},
		"Z03 an address is no name":      {"127.0.0.1:443", "", ""},
		"Z03 IPv6":                       {"[::1]:443", "", ""},
		"Z03 IPv6 with a zone":           {"[fe80::1%eth0]:443", "", ""},
		"C212 name of a known address":   {"10.0.0.1:443", "", "b.test"},
		"C212 override":                  {"10.0.0.1:443", "c.test", "c.test"},
		"C212 override of a host":        {"a.test:443", "c.test", "c.test"},
		"an address that is not of ours": {"10.0.0.2:443", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, &tls.Config{Certificates: []tls.Certificate{ca.Issue("a.test", "b.test", "c.test", "127.0.0.1", "::1", "fe80::1", "10.0.0.2").TLS}}, greet)
			if _, err := s.shake(t, client(t, tlsout.Options{Settings: tlsout.Settings{ServerName: row.override}, Names: known}, ca, nil), row.address); err != nil {
				t.Error(err)
			}
			if sni := <-s.names; sni != row.sni {
				t.Errorf("SNI %q, want %q", sni, row.sni)
			}
		})
	}
}

func TestResumption(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	s := serve(t, &tls.Config{Certificates: []tls.Certificate{ca.Issue("127.0.0.1").TLS}, MaxVersion: tls.VersionTLS12}, greet)
	tally := &tlsout.Tally{}
	c := client(t, tlsout.Options{Tally: tally}, ca, nil)
	for range 3 {
		if _, err := s.shake(t, c, ""); err != nil {
			t.Fatal(err)
		}
	}
	if full, resumed := tally.Handshakes(); full != 1 || resumed != 2 {
		t.Errorf("%d full and %d resumed handshakes, want 1 and 2", full, resumed)
	}
	// A session belongs to its address, whatever the name.
	again := serve(t, &tls.Config{Certificates: []tls.Certificate{ca.Issue("127.0.0.1").TLS}, MaxVersion: tls.VersionTLS12}, greet)
	if _, err := again.shake(t, c, ""); err != nil {
		t.Fatal(err)
	}
	if full, _ := tally.Handshakes(); full != 2 {
		t.Errorf("%d full handshakes with two servers", full)
	}
}

func TestSkipVerify(t *testing.T) {
	s := serve(t, &tls.Config{Certificates: []tls.Certificate{certtest.NewCA(t, "another").Expired("b.test").TLS}}, greet)
	if _, err := s.shake(t, tlsout.New(tlsout.Options{Settings: tlsout.Settings{SkipVerify: true}}), ""); err != nil {
		t.Error(err)
	}
}
