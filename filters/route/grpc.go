package route

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/grpc"
)

// callDeadline is the context of a request, which for a gRPC call ends at its own deadline:
// grpc-timeout counts from when the request arrived and bounds the whole of the response.
// What is left of it goes upstream. end is nil if there is none.
func callDeadline(c *filters.Context) (ctx context.Context, end context.CancelFunc) {
	ctx = c.Request.Context()
	if c.Out.Method != http.MethodPost || !grpc.IsCall(c.Out.Method, c.Out.Header) {
		return ctx, nil
	}
	timeout, limited := grpc.Timeout(c.Out.Header)
	if !limited {
		return ctx, nil
	}
	left := timeout - time.Since(c.Start)
	c.Out.SetField(grpc.TimeoutField, grpc.FormatTimeout(left))
	return context.WithTimeout(ctx, left)
}

// endWith ends the deadline of a call with its response, or at once if there is none.
func endWith(res *http.Response, end context.CancelFunc) {
	switch {
	case end == nil:
	case res == nil || res.Body == nil:
		end()
	default:
		res.Body = &deadlineBody{res.Body, end}
	}
}

type deadlineBody struct {
	io.ReadCloser
	end context.CancelFunc
}

func (b *deadlineBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}
