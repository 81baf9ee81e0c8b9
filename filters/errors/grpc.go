package errorfilter

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/grpc"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// sendStatus answers a gRPC call: a response that consists of a head with the status.
func (f *sendError) sendStatus(c *filters.Context, answer Answer) {
	h := c.Writer().Header()
	addFields(h, c.Err)
	h.Set("Content-Type", grpc.ContentType)
	h.Set(grpc.StatusField, strconv.Itoa(int(codeOf(c.Err, answer))))
	if message := f.message(c.Request, answer); message != "" {
		h.Set(grpc.MessageField, grpc.EncodeMessage(message))
	}
	c.Writer().WriteHeader(http.StatusOK)
}

// codeOf tells apart what has the same HTTP status.
func codeOf(err error, answer Answer) grpc.Code {
	if command, ok := errors.AsType[*ribboncmd.Error](err); ok {
		switch command.Outcome {
		case ribboncmd.SemaphoreRejected, ribboncmd.ThreadPoolRejected, ribboncmd.FallbackRejected:
			return grpc.ResourceExhausted
		default: // the status says it
		}
	}
	return grpc.CodeOf(answer.Status)
}

// breakOff ends a call that has been answered in part, so that it is not taken for a good one.
func breakOff(c *filters.Context) {
	code, message := grpc.Unavailable, "The upstream's response broke off"
	if c.Cut() {
		message = "The gateway is shutting down"
	} else if timeout, ok := errors.AsType[net.Error](c.Err); ok && timeout.Timeout() || errors.Is(c.Err, context.DeadlineExceeded) {
		code, message = grpc.DeadlineExceeded, "The upstream's response did not end in time"
	}
	h := c.Writer().Header()
	h[http.TrailerPrefix+grpc.StatusField] = []string{strconv.Itoa(int(code))}
	h[http.TrailerPrefix+grpc.MessageField] = []string{grpc.EncodeMessage(message)}
}
