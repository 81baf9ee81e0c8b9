// Package freshtls lets the standard library's HTTP client go on when certificates are renewed.
package freshtls

import (
	"crypto/tls"
	"net/http"
	"sync"
)

// Transport is an http.Transport whose TLS may change: requests that begin after the change get
// new connections, those on their way end on the old ones.
type Transport struct {
	base   *http.Transport
	config func() *tls.Config

	mu     sync.Mutex
	used   *http.Transport
	usedBy *tls.Config // config's answer for which used was made
}

var _ http.RoundTripper = (*Transport)(nil)

// New makes a Transport with the settings of base, which itself is not used. config is asked
// at each request and answers with the same pointer until something has changed; a nil config or
// answer leaves everything to the system.
func New(base *http.Transport, config func() *tls.Config) *Transport {
	if config == nil {
		config = func() *tls.Config { return nil }
	}
	return &Transport{base: base, config: config}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.current().RoundTrip(req)
}

// CloseIdleConnections closes those that no request uses.
func (t *Transport) CloseIdleConnections() { t.current().CloseIdleConnections() }

func (t *Transport) current() *http.Transport {
	config := t.config()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used != nil && config == t.usedBy {
		return t.used
	}
	if t.used != nil {
		t.used.CloseIdleConnections()
	}
	t.used, t.usedBy = t.base.Clone(), config
	t.used.TLSClientConfig = config
	return t.used
}
