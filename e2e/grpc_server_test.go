package e2e_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// bytesCodec sends messages as they are, so that no generated code is needed.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = data; return nil }
func (bytesCodec) Name() string                       { return "bytes" }

// greeter is a gRPC server with one method for all kinds of calls: it echoes, and does what
// a message that begins with "!" tells.
type greeter struct {
	addr      string
	server    *grpc.Server
	calls     atomic.Int64
	cancelled atomic.Int64
	busy      atomic.Bool // it answers UNAVAILABLE to everything
}

func startGreeter(t *testing.T) *greeter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	g := &greeter{addr: l.Addr().String()}
	g.server = grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.UnknownServiceHandler(g.serve), grpc.MaxRecvMsgSize(64<<20))
	go g.server.Serve(l) //nolint:errcheck // ends with the test
	t.Cleanup(g.server.Stop)
	return g
}

func (g *greeter) serve(_ any, s grpc.ServerStream) error {
	g.calls.Add(1)
	if g.busy.Load() {
		return status.Error(codes.Unavailable, "busy")
	}
	for {
		var message []byte
		if err := s.RecvMsg(&message); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			g.cancelled.Add(1)
			return err
		}
		if done, err := g.obey(s, string(message)); done || err != nil {
			return err
		}
		reply := append([]byte(g.addr+" "), message...)
		if err := s.SendMsg(&reply); err != nil {
			return err
		}
	}
}

// obey does what a message tells.
func (g *greeter) obey(s grpc.ServerStream, message string) (done bool, err error) {
	switch order, rest, _ := strings.Cut(message, " "); order {
	case "!fail":
		for n := range codes.Code(17) {
			if n.String() == rest {
				return true, status.Error(n, "as told: 100 %")
			}
		}
	case "!wait":
		<-s.Context().Done()
		g.cancelled.Add(1)
		return true, s.Context().Err()
	case "!count":
		n := 0
		for {
			var more []byte
			if err := s.RecvMsg(&more); err != nil {
				break
			}
			n += len(more)
		}
		reply := []byte(time.Duration(n).String())
		return true, s.SendMsg(&reply)
	case "!metadata":
		in, _ := metadata.FromIncomingContext(s.Context())
		at, limited := s.Context().Deadline()
		s.SetTrailer(metadata.Pairs("x-trailer", "end"))
		reply := []byte(strings.Join(in.Get(rest), ",") + "|")
		if limited {
			reply = append(reply, time.Until(at).String()...)
		}
		return true, s.SendMsg(&reply)
	}
	return false, nil
}

// dialGRPC is a client of one connection.
func dialGRPC(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{}), grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func call(ctx context.Context, c *grpc.ClientConn, method, message string, opts ...grpc.CallOption) (string, error) {
	in, out := []byte(message), []byte(nil)
	err := c.Invoke(ctx, method, &in, &out, opts...)
	return string(out), err
}

// talk opens a stream in both directions.
func talk(ctx context.Context, t *testing.T, c *grpc.ClientConn) grpc.ClientStream {
	t.Helper()
	return talkTo(ctx, t, c, "/greeter/Talk")
}

func talkTo(ctx context.Context, t *testing.T, c *grpc.ClientConn, method string) grpc.ClientStream {
	t.Helper()
	s, err := c.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// converse sends a message and waits for the reply to it.
func converse(s grpc.ClientStream, message string) (reply string, err error) {
	in, out := []byte(message), []byte(nil)
	if err := s.SendMsg(&in); err != nil {
		return "", err
	}
	err = s.RecvMsg(&out)
	return string(out), err
}
