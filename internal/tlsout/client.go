package tlsout

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"strings"
	"time"
)

// Names knows the host names of servers that are called by address.
type Names interface {
	// TLSName returns the name of the server at host:port, "" if the address says it all.
	TLSName(address string) string
}

// Options are what a Client is made of.
type Options struct {
	Settings Settings
	Material *Material // nil if there are no files
	Names    Names     // may be nil
	Tally    *Tally    // may be nil
	// Failed, if not nil, is called with each failure, from any goroutine.
	Failed func(*Error)
}

// Client makes sessions with upstreams. Any number of goroutines may use it.
type Client struct {
	options  Options
	config   *tls.Config
	sessions *sessions

	verdictWait time.Duration
}

// New makes a Client, which starts nothing and owns nothing that has to be closed.
func New(o Options) *Client {
	config := &tls.Config{
		MinVersion:         cmp.Or(o.Settings.MinVersion, tls.VersionTLS12),
		InsecureSkipVerify: o.Settings.SkipVerify, //nolint:gosec // only where the user has written it out
	}
	if o.Material != nil {
		config.RootCAs = o.Material.roots
	}
	return &Client{o, config, newSessions(), verdictWait}
}

// Handshake makes a session on conn, which leads to address, within wait. protocols are
// offered by ALPN, the best first: this is the one place where they come in. Errors are
// *Error; conn is left to the caller.
func (c *Client) Handshake(ctx context.Context, conn net.Conn, address string, wait time.Duration, protocols ...string) (*tls.Conn, error) {
	h := handshake{client: c, address: address, name: c.serverName(address), socket: &Socket{Conn: conn}}
	session, err := h.run(ctx, wait, protocols)
	if err == nil {
		c.options.Tally.succeed(session.ConnectionState().DidResume)
		return session, nil
	}
	failure := &Error{address, h.name, causeOf(err, h.asked, c.pair() != nil), err}
	if ctx.Err() != nil {
		return nil, failure // nobody's fault
	}
	if failure.Cause == TimedOut {
		failure.Err = errSlow // not to be taken for the end of the request
	}
	c.options.Tally.fail(failure.Cause)
	if c.options.Failed != nil {
		c.options.Failed(failure)
	}
	return nil, failure
}

func (c *Client) pair() *tls.Certificate {
	if c.options.Material == nil {
		return nil
	}
	return c.options.Material.pair
}

// serverName is the name that the server has to prove. crypto/tls sends it in SNI unless
// it is an address (RFC 6066 3).
func (c *Client) serverName(address string) string {
	name := c.options.Settings.ServerName
	if name == "" && c.options.Names != nil {
		name = c.options.Names.TLSName(address)
	}
	if name == "" {
		name = hostOf(address)
	}
	name, _, _ = strings.Cut(name, "%") // the zone of an IPv6 address is nobody's name
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// handshake is one attempt at a session.
type handshake struct {
	client        *Client
	address, name string
	socket        *Socket
	asked         bool // the server wants to see a certificate
}

func (h *handshake) run(ctx context.Context, wait time.Duration, protocols []string) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	config := h.client.config.Clone()
	config.ServerName, config.NextProtos = h.name, protocols
	config.ClientSessionCache = h.client.sessions.of(h.address)
	config.GetClientCertificate = h.show
	session := tls.Client(h.socket, config)
	if err := session.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if !h.asked || session.ConnectionState().Version < tls.VersionTLS13 {
		return session, nil
	}
	until := time.Now().Add(h.client.verdictWait)
	if at, ok := ctx.Deadline(); ok && at.Before(until) {
		until = at
	}
	return session, h.socket.verdict(session, until)
}

// show gives the certificate whatever authorities the server names: it says better than
// a missing one what is wrong.
func (h *handshake) show(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	h.asked = true
	if pair := h.client.pair(); pair != nil {
		return pair, nil
	}
	return &tls.Certificate{}, nil
}

// slow replaces the deadline of a handshake.
type slow struct{}

var errSlow net.Error = slow{}

func (slow) Error() string   { return "tlsout: no session within the connect timeout" }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }
