package lb_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/lb"
)

// keyed notes the keys that it is asked with.
type keyed struct{ keys []any }

func (k *keyed) Choose(key any, servers []*lb.Server) *lb.Server {
	k.keys = append(k.keys, key)
	return servers[0]
}

func TestClientChooses(t *testing.T) {
	rule := new(keyed)
	b := newBalancer(t, "a", "b")
	b.Configure(lb.BalancerSettings{NewRule: func() lb.Rule { return lb.RuleFunc(rule.Choose) }})
	empty := &lb.Command{Balancer: newBalancer(t)}
	c := lb.NewLoadBalancerClient(lb.NewDirectory(map[string]*lb.Command{"users": {Balancer: b}, "empty": empty}))
	t.Run("ribbon 137 without a key and with one", func(t *testing.T) {
		for _, key := range []any{nil, "hint"} {
			if s, err := c.Choose("users", key); err != nil || s.Host != "a" {
				t.Errorf("%v, %v", s, err)
			}
		}
		if len(rule.keys) != 2 || rule.keys[0] != nil || rule.keys[1] != "hint" {
			t.Errorf("keys %v", rule.keys)
		}
	})
	t.Run("ribbon 138 no balancer", func(t *testing.T) {
		if s, err := c.Choose("orders", nil); s != nil || !errors.Is(err, lb.ErrUnknownService) {
			t.Errorf("%v, %v", s, err)
		}
	})
	t.Run("no server", func(t *testing.T) {
		if s, err := c.Choose("empty", nil); s != nil || !errors.Is(err, lb.ErrNoServer) {
			t.Errorf("%v, %v", s, err)
		}
		err := c.Execute(t.Context(), "empty", nil, func(context.Context, *lb.Server) error { panic("called") })
		if !errors.Is(err, lb.ErrNoServer) {
			t.Errorf("%v", err)
		}
	})
}

// Ribbon 139: each call is begun and ended once.
func TestClientExecutes(t *testing.T) {
	for _, tc := range []struct {
		name     string
		err      error
		failures int64 // after one earlier failure
	}{
		{"ribbon 139 ok", nil, 0},
		{"ribbon 139 an error of the caller's", errors.New("no luck"), 0},
		{"ribbon 139 an I/O error", io.ErrUnexpectedEOF, 0},
		{"a lost connection", errReset, 2},
		{"a time-out", errSilent, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBalancer(t, "a")
			end(t, b, "a", lb.Unhealthy, 1)
			c := lb.NewLoadBalancerClient(usersOnly(&lb.Command{Balancer: b}))
			stats := find(t, b, "a").Stats()
			before := stats.Total()
			err := c.Execute(t.Context(), "users", nil, func(_ context.Context, s *lb.Server) error {
				if n := s.Stats().Active(time.Now()); n != 1 {
					t.Errorf("%d active during the call", n)
				}
				return tc.err
			})
			if err != tc.err { //nolint:errorlint // the very error
				t.Errorf("error %v, want %v", err, tc.err)
			}
			if stats.Active(time.Now()) != 0 || stats.Total() != before+1 || stats.SuccessiveFailures() != tc.failures {
				t.Errorf("active %d, total %d, failures %d", stats.Active(time.Now()), stats.Total(), stats.SuccessiveFailures())
			}
		})
	}
}

func TestClientExecutionThatIsCancelled(t *testing.T) {
	b := newBalancer(t, "a")
	c := lb.NewLoadBalancerClient(usersOnly(&lb.Command{Balancer: b}))
	ctx, cancel := context.WithCancel(t.Context())
	_ = c.Execute(ctx, "users", nil, func(context.Context, *lb.Server) error {
		cancel()
		return errReset
	})
	func() {
		defer func() { _ = recover() }()
		_ = c.Execute(t.Context(), "users", nil, func(context.Context, *lb.Server) error { panic("call") })
	}()
	if s := find(t, b, "a").Stats(); s.SuccessiveFailures() != 0 || s.Active(time.Now()) != 0 || s.Total() != 2 {
		t.Errorf("failures %d, active %d, total %d", s.SuccessiveFailures(), s.Active(time.Now()), s.Total())
	}
}

// Ribbon 139: a server that the balancer does not know is refused.
func TestClientRefusesForeignServers(t *testing.T) {
	c := lb.NewLoadBalancerClient(usersOnly(&lb.Command{Balancer: newBalancer(t, "a")}))
	for _, s := range []*lb.Server{nil, {Host: "a", Port: 80}} {
		err := c.ExecuteOn(t.Context(), "users", s, func(context.Context, *lb.Server) error { panic("called") })
		if !errors.Is(err, lb.ErrForeignServer) {
			t.Errorf("error %v", err)
		}
	}
}

func TestReconstructURI(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		name   string
		server lb.Server
		secure *bool
		uri    string
		want   string
	}{
		{"ribbon 140", lb.Server{Host: "myhost", Port: 9080}, &yes, "http://users", "https://myhost:9080"},
		{"ribbon 141 a secure port", lb.Server{Host: "myhost", Port: 8443}, nil, "//users", "https://myhost:8443"},
		{"ribbon 141 another port", lb.Server{Host: "myhost", Port: 9080}, nil, "//users", "http://myhost:9080"},
		{"ribbon 142 the server's scheme", lb.Server{Host: "myhost", Port: 9080, Scheme: "ws"}, &no, "http://users", "ws://myhost:9080"},
		{"ribbon 144 corrected: the query as it is", lb.Server{Host: "h", Port: 81, Secure: true}, nil, "http://users/%20bar?hello=1+2", "https://h:81/%20bar?hello=1+2"},
		{"ribbon 145 a WebSocket", lb.Server{Host: "h", Port: 81, Secure: true}, nil, "ws://users", "wss://h:81"},
		{"ribbon 145 a plain WebSocket", lb.Server{Host: "h", Port: 81}, nil, "ws://users", "ws://h:81"},
		{"ribbon 145 https", lb.Server{Host: "h", Port: 81, Secure: true}, nil, "https://users", "https://h:81"},
		{"ribbon 145 empty", lb.Server{Host: "h", Port: 81, Secure: true}, nil, "", ""},
		{"ribbon 147", lb.Server{Host: "foo", Port: 7777}, nil, "https://users/", "https://foo:7777/"},
		{"ribbon 106 user information and fragment", lb.Server{Host: "h", Port: 81}, nil, "http://us%3Aer:pass@users/a%2Fb?foo=bar#f%23", "http://us%3Aer:pass@h:81/a%2Fb?foo=bar#f%23"},
		{"IPv6", lb.Server{Host: "::1", Port: 81}, nil, "http://users/", "http://[::1]:81/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := lb.NewLoadBalancerClient(usersOnly(&lb.Command{Balancer: newBalancer(t, "a"), Secure: lb.SecurePolicy{IsSecure: tc.secure}}))
			u, err := url.Parse(tc.uri)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.ReconstructURI("users", &tc.server, u)
			if err != nil || got.String() != tc.want || u.String() != tc.uri {
				t.Errorf("%v, %v; want %s", got, err, tc.want)
			}
		})
	}
}

func TestReconstructURIRefuses(t *testing.T) {
	c := lb.NewLoadBalancerClient(usersOnly(&lb.Command{Balancer: newBalancer(t, "a")}))
	for name, tc := range map[string]struct {
		service string
		server  *lb.Server
		uri     url.URL
	}{
		"ribbon Q34 opaque": {"users", &lb.Server{Host: "h"}, url.URL{Scheme: "mailto", Opaque: "a@b"}},
		"no server":         {"users", nil, url.URL{Host: "users"}},
		"no service":        {"orders", &lb.Server{Host: "h"}, url.URL{Host: "orders"}},
	} {
		t.Run(name, func(t *testing.T) {
			if u, err := c.ReconstructURI(tc.service, tc.server, &tc.uri); err == nil {
				t.Errorf("%v", u)
			}
		})
	}
}

func TestSecure(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		name   string
		server lb.Server
		policy lb.SecurePolicy
		want   bool
	}{
		{"ribbon 143 unset, the source knows", lb.Server{Port: 1, Secure: true}, lb.SecurePolicy{}, true},
		{"ribbon 143 unset, it does not", lb.Server{Port: 1}, lb.SecurePolicy{}, false},
		{"ribbon 143 true", lb.Server{Port: 1}, lb.SecurePolicy{IsSecure: &yes}, true},
		{"ribbon 143 false", lb.Server{Port: 1, Secure: true}, lb.SecurePolicy{IsSecure: &no}, false},
		{"ribbon 146 443", lb.Server{Port: 443}, lb.SecurePolicy{}, true},
		{"ribbon 146 443, and the source knows that it is plain", lb.Server{Port: 443, Plain: true}, lb.SecurePolicy{}, false},
		{"IsSecure outranks a source that knows", lb.Server{Port: 1, Plain: true}, lb.SecurePolicy{IsSecure: &yes}, true},
		{"ribbon 146 8443", lb.Server{Port: 8443}, lb.SecurePolicy{}, true},
		{"ribbon 146 16443", lb.Server{Port: 16443}, lb.SecurePolicy{}, false},
		{"ribbon 146 own ports: 12345", lb.Server{Port: 12345}, lb.SecurePolicy{Ports: []int{12345, 556}}, true},
		{"ribbon 146 own ports: 556", lb.Server{Port: 556}, lb.SecurePolicy{Ports: []int{12345, 556}}, true},
		{"ribbon 146 own ports: 443", lb.Server{Port: 443}, lb.SecurePolicy{Ports: []int{12345, 556}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := lb.NewLoadBalancerClient(usersOnly(&lb.Command{Balancer: newBalancer(t, "a"), Secure: tc.policy}))
			if got, err := c.Secure("users", &tc.server); got != tc.want || err != nil {
				t.Errorf("%t, %v", got, err)
			}
		})
	}
}

func TestClientOf(t *testing.T) {
	services := usersOnly(&lb.Command{Balancer: newBalancer(t, "a")})
	c := lb.ClientOf(&http.Client{Transport: lb.NewTransport(services, nil)})
	if s, err := c.Choose("users", nil); err != nil || s.Host != "a" {
		t.Errorf("%v, %v", s, err)
	}
	if lb.ClientOf(new(http.Client)) != nil {
		t.Error("a client of an ordinary one")
	}
}
