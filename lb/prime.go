package lb

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/internal/rescue"
)

// Primer opens a connection to a server before that gets requests.
type Primer interface {
	// Prime may be called for several servers at once. An error leads to another try.
	Prime(ctx context.Context, s *Server) error
}

// PrimePolicy says how new servers are primed. Zero fields mean Ribbon's defaults.
type PrimePolicy struct {
	Primer Primer
	// Retries after a first failure (MaxRetriesPerServerPrimeConnection), 9 by default;
	// negative means none. The k-th waits k times 100 ms.
	Retries int
	// MaxTime bounds the priming of one list (MaxTotalTimeToPrimeConnections), 30 s by default.
	MaxTime time.Duration
	// MinRatio of the new servers, primed or given up, ends the wait of all of them
	// (MinPrimeConnectionsRatio), 1 by default; the first one is waited for in any case, and
	// negative means no more than that.
	MinRatio float64
}

func (p PrimePolicy) withDefaults() PrimePolicy {
	set(&p.Retries, 9)
	set(&p.MaxTime, 30*time.Second)
	set(&p.MinRatio, 1)
	return p
}

// HTTPPrimer sends a GET; any answer will do.
type HTTPPrimer struct {
	Transport http.RoundTripper // nil means http.DefaultTransport
	Secure    SecurePolicy
	Path      string // PrimeConnectionsURI; empty means "/"
}

var _ Primer = (*HTTPPrimer)(nil)

// Prime implements Primer.
func (p *HTTPPrimer) Prime(ctx context.Context, s *Server) error {
	req, err := (&PingURL{Secure: p.Secure, Path: p.Path}).request(ctx, s)
	if err != nil {
		return err
	}
	resp, err := orDefault(p.Transport).RoundTrip(req)
	discard(resp)
	return err
}

// primeAtOnce is how many servers are primed at the same time.
const primeAtOnce = 16

// prime primes servers and reports each that is done, well or not, until enough of them
// are or the time is over; those that are left over are then done too.
func (p PrimePolicy) prime(ctx context.Context, servers []*Server, done func(s *Server)) {
	p = p.withDefaults()
	ctx, enough := context.WithTimeout(ctx, p.MaxTime)
	defer enough()
	var mu sync.Mutex // guards left
	left := int(float64(len(servers)) * p.MinRatio)
	queue := make(chan *Server, len(servers))
	for _, s := range servers {
		queue <- s
	}
	close(queue)
	var wg sync.WaitGroup
	for range min(primeAtOnce, len(servers)) {
		wg.Go(func() {
			for s := range queue {
				p.primeOne(ctx, s)
				done(s)
				mu.Lock()
				if left--; left <= 0 {
					enough()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func (p PrimePolicy) primeOne(ctx context.Context, s *Server) {
	retries := max(p.Retries, 0)
	for try := range retries + 1 {
		if ctx.Err() != nil || rescue.Do(func() error { return p.Primer.Prime(ctx, s) }) == nil || try == retries {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(try+1) * 100 * time.Millisecond):
		}
	}
}
