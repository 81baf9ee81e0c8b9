package lb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gozer-gateway/gozer/lb"
)

func TestNewError(t *testing.T) {
	for _, tc := range []struct {
		name    string
		err     error
		kind    lb.Kind
		timeout bool
		text    string
	}{
		{"no server", lb.ErrNoServer, lb.NoServer, false, `lb: no server available for service "x"`},
		{"refused", errRefused, lb.Connect, false, `lb: service "x": CONNECT_EXCEPTION: dial tcp: connect: connection refused`},
		{"silent", errSilent, lb.ReadTimeout, true, `lb: service "x": READ_TIMEOUT_EXCEPTION: read tcp: i/o timeout`},
		{"client gone", context.Canceled, lb.Cancelled, false, `lb: service "x": GENERAL: context canceled`},
		{"deadline", context.DeadlineExceeded, lb.SocketTimeout, true, `lb: service "x": SOCKET_TIMEOUT_EXCEPTION: context deadline exceeded`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := lb.NewError("x", tc.err)
			if err.Kind != tc.kind || err.Timeout() != tc.timeout || !errors.Is(err, tc.err) || err.Error() != tc.text {
				t.Errorf("kind %v, timeout %t, text %q", err.Kind, err.Timeout(), err)
			}
		})
	}
}

func TestDirect(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // a row of a table
		err  error
		kind lb.Kind
	}{
		{"the error decides", t.Context(), errRefused, lb.Connect},
		{"unless the client is gone", gone, errRefused, lb.Cancelled},
		{"or the time is up", late, errReset, lb.SocketTimeout},
		{"no server", gone, lb.ErrNoServer, lb.NoServer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := lb.Direct(tc.ctx, "x", tc.err); err.Kind != tc.kind || !errors.Is(err, tc.err) {
				t.Errorf("error %v of kind %d, want kind %d", err, err.Kind, tc.kind)
			}
		})
	}
}
