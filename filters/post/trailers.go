package post

import (
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/headers"
)

// announceTrailers names the trailer fields that the upstream has announced.
func announceTrailers(c *filters.Context) {
	cleanTrailer(c)
	dst := c.Writer().Header()
	for name := range c.Response.Trailer {
		dst["Trailer"] = append(dst["Trailer"], name)
	}
}

// sendTrailers passes the trailer fields on, announced or not. They go out
// with the end of the response.
func sendTrailers(c *filters.Context) {
	cleanTrailer(c)
	dst := c.Writer().Header()
	for name, values := range c.Response.Trailer {
		if len(values) > 0 {
			dst[http.TrailerPrefix+name] = values
		}
	}
}

// cleanTrailer deletes what must not pass as a trailer field: ignored names and
// fields about framing, routing, authentication or the kind of content (RFC
// 9110 6.5.1).
func cleanTrailer(c *filters.Context) {
	t := c.Response.Trailer
	headers.Strip(t)
	for name, values := range t {
		if c.IgnoresHeader(name) || mustLead(name) || checkField(name, values) != nil {
			delete(t, name)
		}
	}
}

// mustLead reports whether a field has a meaning only in front of the body.
func mustLead(name string) bool {
	switch name {
	case "Authorization", "Content-Encoding", "Content-Range", "Content-Type", "Set-Cookie", "X-Application-Context":
		return true
	}
	return false
}
