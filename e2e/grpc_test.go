package e2e_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// greeting is the configuration of a gateway in front of gRPC servers.
func greeting(more string, servers ...string) string {
	return `
server.http2.enabled: true
zuul.routes.greeter: {path: /greeter/**, strip-prefix: false}
zuul.routes.closed: {path: /closed/**, strip-prefix: false}
gateway.upstream: {greeter.protocol: h2c, closed.protocol: h2c}
greeter.ribbon: {listOfServers: "` + strings.Join(servers, ",") + `", ReadTimeout: 20000, ConnectTimeout: 10000}
closed.ribbon.listOfServers: 127.0.0.1:1
` + more
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestGRPCCalls(t *testing.T) {
	up := startGreeter(t)
	g := startGateway(t, greeting("", up.addr))
	c := dialGRPC(t, g.Proxy)
	ctx := within(t, patience)
	t.Run("unary", func(t *testing.T) {
		if got, err := call(ctx, c, "/greeter/Hello", "you"); err != nil || got != up.addr+" you" {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("client stream", func(t *testing.T) {
		s := talk(ctx, t, c)
		for _, message := range []string{"!count", "12345", "678"} {
			in := []byte(message)
			if err := s.SendMsg(&in); err != nil {
				t.Fatal(err)
			}
		}
		var out []byte
		if err := errors.Join(s.CloseSend(), s.RecvMsg(&out)); err != nil || string(out) != "8ns" {
			t.Errorf("%q, %v", out, err)
		}
	})
	t.Run("ping-pong without delay, trailers at the end", func(t *testing.T) {
		s := talk(ctx, t, c)
		for range 50 {
			if got, err := converse(s, "ping"); err != nil || got != up.addr+" ping" {
				t.Fatalf("%q, %v", got, err)
			}
		}
		if _, err := converse(s, "!metadata te"); err != nil {
			t.Error(err)
		}
		if err := s.RecvMsg(new([]byte)); !errors.Is(err, io.EOF) || len(s.Trailer().Get("x-trailer")) != 1 {
			t.Errorf("%v, %v", err, s.Trailer())
		}
	})
	t.Run("server stream", func(t *testing.T) {
		s := talk(ctx, t, c)
		for range 3 {
			in := []byte("more")
			if err := s.SendMsg(&in); err != nil {
				t.Fatal(err)
			}
		}
		_ = s.CloseSend()
		for range 3 {
			if err := s.RecvMsg(new([]byte)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.RecvMsg(new([]byte)); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	t.Run("large messages", func(t *testing.T) {
		big := strings.Repeat("0123456789", 1<<20)
		if got, err := call(ctx, c, "/greeter/Hello", big); err != nil || got != up.addr+" "+big {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	t.Run("C116 TE: trailers reaches the server", func(t *testing.T) {
		// grpc-go keeps te out of the metadata, and would refuse a call without application/grpc.
		if got, err := call(ctx, c, "/greeter/Hello", "!metadata content-type"); err != nil || !strings.HasPrefix(got, "application/grpc") {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("the deadline goes on, less what has passed", func(t *testing.T) {
		got, err := call(within(t, 15*time.Second), c, "/greeter/Hello", "!metadata x")
		_, left, _ := strings.Cut(got, "|")
		if d, bad := time.ParseDuration(left); err != nil || bad != nil || d <= 0 || d > 15*time.Second {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("the deadline passes", func(t *testing.T) {
		before := up.cancelled.Load()
		_, err := call(within(t, 5*time.Second), c, "/greeter/Hello", "!wait")
		if status.Code(err) != codes.DeadlineExceeded {
			t.Error(err)
		}
		eventually(t, "the server learns of it", func() bool { return up.cancelled.Load() > before })
	})
	t.Run("the client cancels", func(t *testing.T) {
		before := up.cancelled.Load()
		ctx, cancel := context.WithCancel(ctx)
		s := talk(ctx, t, c)
		if _, err := converse(s, "hello"); err != nil {
			t.Fatal(err)
		}
		cancel()
		eventually(t, "the server learns of it", func() bool { return up.cancelled.Load() > before })
	})
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		t.Run("C115 status of the server: "+code.String(), func(t *testing.T) {
			_, err := call(ctx, c, "/greeter/Hello", "!fail "+code.String())
			if s := status.Convert(err); s.Code() != code || s.Message() != "as told: 100 %" {
				t.Error(err)
			}
		})
	}
	t.Run("HTTP/1.1 client", func(t *testing.T) {
		frame := "\x00\x00\x00\x00\x03you"
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL("/greeter/Hello"), strings.NewReader(frame))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/grpc")
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		res, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || !strings.HasSuffix(string(body), " you") || res.Trailer.Get("Grpc-Status") != "0" {
			t.Errorf("H20: %q, %v, %v", body, res.Trailer, err)
		}
		for name := range res.Header {
			if strings.HasPrefix(name, ":") {
				t.Errorf("C119: %s came out", name)
			}
		}
	})
}

// Failures of the gateway are answered as gRPC wants it.
func TestGRPCErrors(t *testing.T) {
	up := startGreeter(t)
	g := startGateway(t, greeting(`
zuul.routes.empty: {path: /empty/**, strip-prefix: false}
empty.ribbon.listOfServers: ""
zuul.semaphore.max-semaphores: 1
gateway.limits.max-request-body: 1MB
`, up.addr))
	c := dialGRPC(t, g.Proxy)
	ctx := within(t, patience)
	for name, tt := range map[string]struct {
		method, message string
		want            codes.Code
	}{
		"no route":         {"/nowhere/x", "x", codes.Unimplemented},
		"nobody listens":   {"/closed/x", "x", codes.Unavailable},
		"no server":        {"/empty/x", "x", codes.Unavailable},
		"message too long": {"/greeter/x", strings.Repeat("x", 2<<20), codes.ResourceExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := call(ctx, c, tt.method, tt.message)
			if s := status.Convert(err); s.Code() != tt.want || s.Message() == "" {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	t.Run("bulkhead", func(t *testing.T) {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		done, before := make(chan struct{}), up.calls.Load()
		go func() {
			defer close(done)
			_, _ = call(waiting, c, "/greeter/x", "!wait")
		}()
		eventually(t, "one call waits", func() bool { return up.calls.Load() > before })
		if _, err := call(ctx, c, "/greeter/x", "x"); status.Code(err) != codes.ResourceExhausted {
			t.Error(err)
		}
		cancel()
		<-done
	})
}

// A server that dies in mid-stream is no success, and a client hears it at once.
// A call with a deadline to a URL that nobody answers at says what one without would.
func TestGRPCDeadlineHidesNoCause(t *testing.T) {
	g := startGateway(t, greeting("zuul.routes.gone: {path: /gone/**, url: \"http://127.0.0.1:1\"}\n", "127.0.0.1:1"))
	c := dialGRPC(t, g.Proxy)
	for name, ctx := range map[string]context.Context{"with a deadline": within(t, patience), "without": t.Context()} {
		_, err := call(ctx, c, "/gone/Hello", "you")
		if s := status.Convert(err); s.Code() != codes.Unavailable || s.Message() != "CONNECT_EXCEPTION" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGRPCServerDies(t *testing.T) {
	up := startGreeter(t)
	g := startGateway(t, greeting("", up.addr))
	s := talk(within(t, patience), t, dialGRPC(t, g.Proxy))
	if _, err := converse(s, "hello"); err != nil {
		t.Fatal(err)
	}
	up.server.Stop()
	if err := s.RecvMsg(new([]byte)); status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
}

// The calls of one connection are balanced one by one.
func TestGRPCBalancing(t *testing.T) {
	a, b := startGreeter(t), startGreeter(t)
	g := startGateway(t, greeting("greeter.ribbon.NFLoadBalancerRuleClassName: RoundRobinRule", a.addr, b.addr))
	c, ctx := dialGRPC(t, g.Proxy), within(t, patience)
	for range 20 {
		if _, err := call(ctx, c, "/greeter/Hello", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if a.calls.Load() != 10 || b.calls.Load() != 10 {
		t.Errorf("%d and %d calls", a.calls.Load(), b.calls.Load())
	}
}

func TestGRPCBreaker(t *testing.T) {
	up := startGreeter(t)
	g := startGateway(t, greeting(`
hystrix.command.greeter.circuitBreaker.requestVolumeThreshold: 3
gateway.resilience.greeter: {failure-grpc-status: [INTERNAL, 15], eager: true}
`, up.addr))
	c, ctx := dialGRPC(t, g.Proxy), within(t, patience)
	for _, code := range []codes.Code{codes.NotFound, codes.NotFound, codes.NotFound, codes.NotFound} {
		if _, err := call(ctx, c, "/greeter/Hello", "!fail "+code.String()); status.Code(err) != code {
			t.Error(err)
		}
	}
	// Half in the head, half in the trailer after a message.
	for range 5 {
		_, _ = call(ctx, c, "/greeter/Hello", "!fail "+codes.Internal.String())
		s := talk(ctx, t, c)
		_, _ = converse(s, "x")
		in := []byte("!fail " + codes.DataLoss.String())
		_ = s.SendMsg(&in)
		_ = s.RecvMsg(new([]byte))
	}
	before := up.calls.Load()
	if _, err := call(ctx, c, "/greeter/Hello", "x"); status.Code(err) != codes.Unavailable || up.calls.Load() != before {
		t.Errorf("%v; the circuit is not open", err)
	}
}

// A call that a server turns away goes to the next one, if it is told so.
func TestGRPCRetry(t *testing.T) {
	for more, again := range map[string]bool{"": false, "gateway.retry.greeter.grpc-status: UNAVAILABLE": true} {
		bad, good := startGreeter(t), startGreeter(t)
		bad.busy.Store(true)
		g := startGateway(t, greeting(more, bad.addr, good.addr))
		c, ctx := dialGRPC(t, g.Proxy), within(t, patience)
		failed := 0
		for range 10 {
			if _, err := call(ctx, c, "/greeter/Hello", "x"); err != nil {
				failed++
			}
		}
		if again != (failed == 0) || bad.calls.Load() == 0 {
			t.Errorf("%q: %d of 10 calls failed", more, failed)
		}
	}
}

// A stream goes on when the configuration is replaced, even with new connections.
func TestGRPCStreamSurvivesReload(t *testing.T) {
	up := startGreeter(t)
	g := startGateway(t, greeting("", up.addr))
	c := dialGRPC(t, g.Proxy)
	s := talk(metadata.AppendToOutgoingContext(within(t, patience), "x", "y"), t, c)
	for _, more := range []string{"", "gateway.via: false", "gateway.upstream.greeter.http2.max-streams: 50"} {
		if more != "" {
			g.Reload(greeting("", up.addr)+"\n"+more, reloaded)
		}
		if got, err := converse(s, "ping"); err != nil || got != up.addr+" ping" {
			t.Fatalf("after %q: %q, %v", more, got, err)
		}
		if _, err := call(within(t, patience), c, "/greeter/Hello", "x", grpc.WaitForReady(true)); err != nil {
			t.Errorf("after %q: %v", more, err)
		}
	}
}
