package route

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// Service is what it takes to call one service: the circuit-breaker command
// around a load-balanced call.
type Service struct {
	Command *ribboncmd.Command
	Balance *lb.Command
	// Key is where the load-balancing rule's key comes from, unless a filter has set
	// LoadBalancerKey.
	Key lb.KeySource
}

func (s *Service) key(c *filters.Context) any {
	if c.LoadBalancerKey != nil {
		return c.LoadBalancerKey
	}
	var client netip.Addr
	if s.Key.ByAddress() {
		client = c.Origin().Addr
	}
	return s.Key.Of(c.Request, client)
}

// Services finds a service by id. It is called for every request, from any
// goroutine. An unknown id gives nil: nothing is kept for ids that a client
// could make up.
type Services interface {
	Service(id string) *Service
}

// RibbonRouting returns the filter that sends the requests of service routes:
// fallback( breaker( bulkhead( deadline( choose, retry, transport )))) (zuul.md
// 2.5 and 6). Errors are *ribboncmd.Error, or *lb.Error for an unknown service.
func RibbonRouting(services Services) filters.Spec {
	return filters.Instance("RibbonRoutingFilter", filters.Route, 10, ribbonRouting{services})
}

// recorder notes the attempts of a call in the context of its request.
type recorder struct{ c *filters.Context }

var _ lb.Recorder = recorder{}

func (r recorder) Attempted(a lb.Attempt) {
	noted := filters.Attempt{Server: a.Server, Start: a.Start, Took: a.Duration, Status: a.Status, Err: a.Err}
	if a.Err != nil {
		noted.Cause = lb.CauseOf(a.Kind, a.Err)
	}
	r.c.Attempted(noted)
}

type ribbonRouting struct{ services Services }

var _ filters.Filter = ribbonRouting{}

func (ribbonRouting) ShouldFilter(c *filters.Context) bool {
	return c.ServiceID != "" && c.Out.URL == nil && c.Response == nil
}

func (f ribbonRouting) Run(c *filters.Context) error {
	service := f.services.Service(c.ServiceID)
	if service == nil {
		return lb.Direct(c.Request.Context(), c.ServiceID, lb.ErrNoServer)
	}
	ctx, end := callDeadline(c)
	req, err := newRequest(c, c.Out.Path, service.Balance.Transport)
	if err != nil {
		endWith(nil, end)
		return err
	}
	call := lb.Call{Key: service.key(c), Retryable: c.Retryable, Header: c.SpareHeader(), Recorder: recorder{c}}
	res, err := service.Command.Execute(ctx, func(ctx context.Context) (*http.Response, error) { //nolint:bodyclose // the context closes it
		defer bodyDeadline(ctx, c)()
		res, err := service.Balance.Send(ctx, req, call)
		return res, blame(c, err)
	})
	endWith(res, end)
	if err != nil {
		return err
	}
	c.Receive(res)
	return nil
}
