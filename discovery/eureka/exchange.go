package eureka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/internal/freshtls"
)

// call is a request to whichever registry answers it.
type call struct {
	name   string // for errors
	method string
	path   string // escaped, relative to the root
	query  url.Values
	header http.Header
	body   []byte // JSON; nil for none
	// also tells which statuses are answers, apart from 2xx, rather than failures of
	// that registry.
	also func(status int) bool
	// read takes the body of a 200; nil throws it away. A failure is the registry's.
	read func(res *http.Response, body io.Reader) error
	// wait is how long each wait may take; 0 means the read timeout.
	wait time.Duration
}

func (c *call) accepts(status int) bool {
	return status >= 200 && status < 300 || c.also != nil && c.also(status)
}

// exchange sends a call to one registry; location is where a 302 leads.
type exchange func(ctx context.Context, e *endpoint, c *call) (status int, location string, err error)

// transport sends calls over HTTP.
type transport struct {
	settings ServerSettings
	http     *freshtls.Transport
}

func newTransport(s ServerSettings) *transport {
	h := &http.Transport{
		DialContext:         s.Dial,
		TLSHandshakeTimeout: s.ConnectTimeout,
		DisableCompression:  true, // bodies are unpacked within limits
		MaxConnsPerHost:     s.MaxConnections,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     s.IdleTimeout,
		ForceAttemptHTTP2:   false,

		MaxResponseHeaderBytes: 64 << 10,
	}
	if s.Proxy != nil {
		h.Proxy = http.ProxyURL(s.Proxy)
	}
	return &transport{s, freshtls.New(h, s.TLS)}
}

func (t *transport) close() { t.http.CloseIdleConnections() }

var errTooSlow = errors.New("the registry took too long")

func (t *transport) exchange(ctx context.Context, e *endpoint, c *call) (status int, location string, err error) {
	wait := c.wait
	if wait == 0 {
		wait = t.settings.ReadTimeout
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(t.settings.ConnectTimeout+wait, func() { cancel(errTooSlow) })
	defer watchdog.Stop()

	req, err := t.request(ctx, e, c)
	if err != nil {
		return 0, "", err
	}
	res, err := t.http.RoundTrip(req)
	if err != nil {
		return 0, "", failure(ctx, c, e, err)
	}
	defer res.Body.Close()
	body := &watched{res.Body, watchdog, wait}
	watchdog.Reset(wait)
	if res.StatusCode != http.StatusOK || c.read == nil {
		_, _ = io.CopyN(io.Discard, body, 64<<10) // so that the connection can go on
		return res.StatusCode, res.Header.Get("Location"), nil
	}
	unpacked, err := Unpacked(body, res.Header.Get("Content-Encoding"))
	if err == nil {
		err = c.read(res, unpacked)
	}
	if err != nil {
		return 0, "", failure(ctx, c, e, err)
	}
	return res.StatusCode, "", nil
}

// failure tells a time-out from other ends of the context.
func failure(ctx context.Context, c *call, e *endpoint, err error) error {
	if errors.Is(err, context.Canceled) && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s %s: %w", c.name, e, err)
}

// watched keeps a stream alive as long as something comes.
type watched struct {
	io.Reader
	watchdog *time.Timer
	wait     time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.watchdog.Reset(w.wait)
	return n, err
}

func (t *transport) request(ctx context.Context, e *endpoint, c *call) (*http.Request, error) {
	at := e.base.String() + c.path // as it is: an id may look like a step upwards
	if len(c.query) > 0 {
		at += "?" + c.query.Encode()
	}
	var body io.Reader
	if c.body != nil {
		body = bytes.NewReader(c.body)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, at, body)
	if err != nil {
		return nil, fmt.Errorf("eureka: %s: %w", c.name, err)
	}
	t.label(req.Header, c)
	if e.user != nil {
		password, _ := e.user.Password()
		req.SetBasicAuth(e.user.Username(), password)
	}
	return req, nil
}

// label sets the headers that Java clients send (section 1.8).
func (t *transport) label(h http.Header, c *call) {
	h.Set("Accept", JSON.ContentType())
	h.Set("User-Agent", "Gozer-EurekaClient")
	h.Set("DiscoveryIdentity-Name", "DefaultClient")
	h.Set("DiscoveryIdentity-Version", "1.4")
	if c.body != nil {
		h.Set("Content-Type", JSON.ContentType())
	}
	if !t.settings.NoCompression {
		h.Set("Accept-Encoding", "gzip")
	}
	if t.settings.AllowRedirects {
		h.Set("X-Discovery-AllowRedirect", "true")
	}
	if t.settings.Compact {
		h.Set("X-Eureka-Accept", "compact")
	}
	maps.Copy(h, c.header)
}

// redirected is the endpoint that a Location leads to. Credentials stay behind unless
// it is on the same host.
func (e *endpoint) redirected(location string) (*endpoint, error) {
	root := regexp.MustCompile(`^(.*/)apps(?:/.*)?$`)
	if location == "" {
		return nil, errors.New("redirect without Location")
	}
	to, err := e.base.Parse(location)
	if err != nil {
		return nil, errors.New("redirect to what is no URL")
	}
	m := root.FindStringSubmatch(to.EscapedPath())
	if m == nil {
		return nil, errors.New("redirect to what is no registry")
	}
	next, err := parseEndpoint(to.Scheme+"://"+to.Host+m[1], e.zone)
	if err != nil {
		return nil, fmt.Errorf("redirect to what %w", err)
	}
	next.user = to.User
	if next.user == nil && strings.EqualFold(to.Host, e.base.Host) && to.Scheme == e.base.Scheme {
		next.user = e.user
	}
	return next, nil
}
