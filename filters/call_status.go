package filters

import (
	"net/http"

	"github.com/gozer-gateway/gozer/internal/grpc"
)

// IsCall reports that the client has made a gRPC call.
func (c *Context) IsCall() bool {
	return grpc.IsCall(c.Request.Method, c.Request.Header)
}

// CallStatus is the grpc-status that the client of a gRPC call has been sent, in the head
// of the response or in its trailer. It is false for a request that is no call, and for a
// call whose client was not told: it has left, or its response was cut or is of another
// kind. It may be called when the chain has run, until the request has been answered.
func (c *Context) CallStatus() (code int, told bool) {
	if !c.IsCall() || c.Aborted() {
		return 0, false
	}
	values := c.writer.Header()[http.TrailerPrefix+grpc.StatusField]
	if len(values) == 0 {
		values = c.Sent(grpc.StatusField)
	}
	status, told := grpc.Ended(http.Header{grpc.StatusField: values})
	return int(status), told
}
