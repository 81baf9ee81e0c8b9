package post

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gozer-gateway/gozer/filters"
)

// SendResponseSettings configure SendResponse. The zero value is Zuul's
// default.
type SendResponseSettings struct {
	// BufferSize is zuul.initial-stream-buffer-size, the bytes of a body that
	// are held at a time. Zero means 8192.
	BufferSize int

	// DebugHeader is zuul.include-debug-header: the routing debug of a
	// debugged request is sent to the client as X-Zuul-Debug-Header.
	DebugHeader bool

	// TunnelIdle ends a connection that has switched protocols when neither
	// side has sent anything for so long. Zero means five minutes.
	TunnelIdle time.Duration

	// Tunnels counts such connections; nil counts none.
	Tunnels *filters.TunnelCount
}

// SendResponse returns the filter that sends Context.Response to the client,
// byte for byte as the upstream or a filter made it (zuul.md 4.5, 4.6). A body
// of unknown length is flushed as it arrives. A response that cannot be
// completed is cut, so that it never looks complete.
func SendResponse(s SendResponseSettings) filters.Spec {
	if s.BufferSize <= 0 {
		s.BufferSize = 8192
	}
	f := &sendResponse{
		debugHeader: s.DebugHeader,
		buffers:     newBuffers(s.BufferSize),
		tunnels:     tunnels{idle: cmp.Or(s.TunnelIdle, 5*time.Minute), count: cmp.Or(s.Tunnels, &filters.TunnelCount{})},
	}
	return filters.Instance("SendResponseFilter", filters.Post, 1000, f)
}

type sendResponse struct {
	debugHeader bool
	buffers     *buffers
	tunnels     tunnels
}

var _ filters.Filter = (*sendResponse)(nil)

func (*sendResponse) ShouldFilter(c *filters.Context) bool {
	return c.Err == nil && c.Response != nil && !c.Committed()
}

func (f *sendResponse) Run(c *filters.Context) error {
	res := c.Response
	if protocol := c.Switched(); protocol != "" {
		return f.tunnels.run(c, protocol)
	}
	if res.Status < http.StatusOK || res.Status > 999 {
		return filters.Refuse(http.StatusBadGateway, "Invalid upstream status "+strconv.Itoa(res.Status))
	}
	length := announcedLength(c.Request.Method, res)
	if err := f.sendHead(c, length); err != nil {
		return err
	}
	if bodyless(c.Request.Method, res.Status) || res.Body == nil {
		return nil
	}
	if err := f.stream(c, length); err != nil {
		if errors.Is(err, filters.ErrClientGone) || !c.EndsInTrailer() {
			c.Abort()
		}
		return err
	}
	sendTrailers(c)
	return nil
}

// bodyless reports whether a response has no body whatever its fields say
// (RFC 9112 6.3).
func bodyless(method string, status int) bool {
	return method == http.MethodHead || status == http.StatusNoContent || status == http.StatusNotModified
}
