package registry

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/freshtls"
)

// fault is what went wrong with a call to a peer. The zero value is success.
type fault struct {
	err   error
	retry bool          // with the same batch
	pause time.Duration // before that
}

// newTransport makes the connections for peers and regions.
func newTransport(s ReplicationSettings, security func() *tls.Config) http.RoundTripper {
	return freshtls.New(&http.Transport{
		DialContext:         (&net.Dialer{Timeout: s.ConnectTimeout}).DialContext,
		TLSHandshakeTimeout: max(s.ConnectTimeout, time.Second),
		IdleConnTimeout:     s.IdleTimeout,
		MaxIdleConnsPerHost: 4,
		DisableCompression:  true, // asked for where it helps
	}, security)
}

// send delivers a batch and says what a failure means (spec 4.10).
func (p *peer) send(ctx context.Context, items []eureka.ReplicationItem) ([]eureka.ReplicationResult, fault) {
	s := p.registry.settings.Replication
	ctx, cancel := context.WithTimeout(ctx, s.ConnectTimeout+s.ReadTimeout)
	defer cancel()
	body, encoding := eureka.AppendReplication(nil, items), ""
	if s.Compress {
		body, encoding = compress(body), "gzip"
	}
	req, err := p.request(ctx, http.MethodPost, "peerreplication/batch/", bytes.NewReader(body))
	if err != nil {
		return nil, fault{err: err}
	}
	req.Header.Set("Content-Type", eureka.JSON.ContentType())
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	res, err := p.registry.settings.Transport.RoundTrip(req)
	if err != nil {
		return nil, lost(err)
	}
	defer res.Body.Close()
	if res.Header.Get(idHeader) == p.registry.id {
		p.registry.peers.drop(p)
		return nil, fault{err: errItself}
	}
	if res.StatusCode/100 != 2 {
		return nil, refused(res.StatusCode)
	}
	unpacked, err := eureka.Unpacked(res.Body, res.Header.Get("Content-Encoding"))
	if err != nil {
		return nil, fault{err: err}
	}
	results, err := eureka.ReadReplicationResults(unpacked, p.registry.batchLimits())
	if err != nil && isTimeout(err) {
		return nil, lost(err)
	}
	return results, fault{err: err}
}

// errItself is a peer that turns out to be this process.
var errItself = errors.New("registry: the peer is this registry itself")

// lost is a call without an answer. A peer that is slow is given more time than one
// that cannot be reached.
func lost(err error) fault {
	if isTimeout(err) {
		return fault{err: err, retry: true, pause: pauseCongestion}
	}
	return fault{err: err, retry: true, pause: pauseTransient}
}

// isTimeout leaves out connecting, which says nothing of the peer's load.
func isTimeout(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return false
	}
	slow, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && slow.Timeout()
}

func refused(status int) fault {
	err := fmt.Errorf("registry: peer answered %d", status)
	if status == http.StatusServiceUnavailable {
		return fault{err: err, retry: true, pause: pauseCongestion}
	}
	return fault{err: err}
}

// request is a call to the peer, which knows from it that a registry is asking.
func (p *peer) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.url.String()+path, body)
	if err != nil {
		return nil, err
	}
	identify(req, p.url)
	req.Header.Set("Accept", eureka.JSON.ContentType())
	req.Header.Set("Accept-Encoding", "gzip")
	return req, nil
}

// identify adds the headers of a registry, and the credentials of its URL.
func identify(req *http.Request, u *url.URL) {
	req.URL.User = nil
	if u.User != nil {
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}
	req.Header.Set("DiscoveryIdentity-Name", "DefaultServer")
	req.Header.Set("DiscoveryIdentity-Version", "1.0")
	req.Header.Set("User-Agent", "Gozer-Registry")
}

// note keeps account of a call, and logs when a peer goes or comes back.
func (p *peer) note(f fault, items int) {
	if f.err == nil {
		p.sent.Add(int64(items))
		if !p.available.Swap(true) {
			p.registry.log.Info("peer is available", "peer", p.name)
			p.registry.peers.hear()
		}
		return
	}
	p.failed.Add(int64(items))
	if p.available.Swap(false) || !f.retry {
		p.registry.log.Warn("peer could not be told", "peer", p.name, "changes", items, "again", f.retry, "error", f.err)
	}
}

// batchLimits bound what a peer may send.
func (r *Registry) batchLimits() eureka.Limits {
	return eureka.Limits{Bytes: r.settings.Limits.Batch, Instances: r.settings.Limits.BatchItems}
}
