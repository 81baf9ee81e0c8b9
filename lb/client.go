package lb

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Errors of a LoadBalancerClient.
var (
	ErrForeignServer = errors.New("lb: server was not chosen by this balancer")
	errOpaqueURL     = errors.New("lb: an opaque URL cannot be sent to a server")
)

// LoadBalancerClient is for protocols and libraries that Transport does not reach: it
// chooses servers of services by name and keeps their statistics. Its methods may be
// called from any number of goroutines.
type LoadBalancerClient struct {
	services Services
}

// NewLoadBalancerClient makes a client for these services.
func NewLoadBalancerClient(services Services) *LoadBalancerClient {
	return &LoadBalancerClient{services: services}
}

// ClientOf gives the client for the services that an http.Client with a Transport calls,
// nil if it has another transport.
func ClientOf(c *http.Client) *LoadBalancerClient {
	t, ok := c.Transport.(*Transport)
	if !ok {
		return nil
	}
	return NewLoadBalancerClient(t.services)
}

// Choose picks a server. key is handed to the rule, nil for none. The error wraps
// ErrUnknownService or ErrNoServer.
func (c *LoadBalancerClient) Choose(service string, key any) (*Server, error) {
	cmd, err := c.command(service)
	if err != nil {
		return nil, err
	}
	s := cmd.Balancer.Choose(key, nil)
	if s == nil {
		return nil, noServer(cmd.Balancer.Name())
	}
	return s, nil
}

func (c *LoadBalancerClient) command(service string) (*Command, error) {
	cmd := c.services.Command(service)
	if cmd == nil {
		return nil, unknownService(service)
	}
	return cmd, nil
}

// Execute chooses a server and does ExecuteOn.
func (c *LoadBalancerClient) Execute(ctx context.Context, service string, key any, call func(context.Context, *Server) error) error {
	s, err := c.Choose(service, key)
	if err != nil {
		return err
	}
	return c.ExecuteOn(ctx, service, s, call)
}

// ExecuteOn runs call once and counts it for the server, which Choose has returned: an
// error of the network as its failure, unless ctx was cancelled. It returns the error of
// call as it is. A panic goes on and says nothing about the server.
func (c *LoadBalancerClient) ExecuteOn(ctx context.Context, service string, s *Server, call func(context.Context, *Server) error) (err error) {
	cmd, err := c.command(service)
	if err != nil {
		return err
	}
	if s == nil || s.Stats() == nil {
		return ErrForeignServer
	}
	start, outcome := time.Now(), Neutral
	cmd.Balancer.Begin(s, start)
	returned := false
	defer func() {
		end := time.Now()
		if returned {
			outcome = outcomeOfCall(ctx, err)
		}
		cmd.Balancer.End(s, end, end.Sub(start), outcome)
	}()
	err = call(ctx, s)
	returned = true
	return err
}

func outcomeOfCall(ctx context.Context, err error) Outcome {
	switch {
	case err == nil:
		return Healthy
	case isUnasked(err):
		return Neutral
	case over(ctx):
		return ended(ctx).outcome
	}
	return classify(err).outcome
}

// Secure reports that the server is called over TLS.
func (c *LoadBalancerClient) Secure(service string, s *Server) (bool, error) {
	cmd, err := c.command(service)
	if err != nil {
		return false, err
	}
	return cmd.Secure.scheme(s) == "https", nil
}

// ReconstructURI gives u with the address of the server in place of the service's name;
// path and query stay byte for byte. The server may come from elsewhere than Choose. The
// scheme is https, or wss for ws, if the server is secure, else what the server was
// listed with, else that of u, else http. An empty URL stays empty.
func (c *LoadBalancerClient) ReconstructURI(service string, s *Server, u *url.URL) (*url.URL, error) {
	cmd, err := c.command(service)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, ErrForeignServer
	case u.Opaque != "":
		return nil, errOpaqueURL
	}
	again := *u
	if again == (url.URL{}) {
		return &again, nil
	}
	again.Scheme = webSocket(cmd.Secure.schemeFor(s, u.Scheme), u.Scheme)
	again.Host = s.HostPort()
	return &again, nil
}

// webSocket keeps a WebSocket's URL one.
func webSocket(scheme, asked string) string {
	if asked != "ws" && asked != "wss" {
		return scheme
	}
	switch scheme {
	case "http":
		return "ws"
	case "https":
		return "wss"
	}
	return scheme
}

// schemeFor is scheme for a request whose URL has the scheme asked: that is used with a
// server about which nothing is known.
func (p *SecurePolicy) schemeFor(s *Server, asked string) string {
	scheme := p.scheme(s)
	if asked == "" || s.Scheme != "" || scheme != "http" {
		return scheme
	}
	return asked
}
