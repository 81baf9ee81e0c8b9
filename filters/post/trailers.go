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

// cleanTrailer deletes what must not pass as a trailer field, and what would
// end early on the wire.
func cleanTrailer(c *filters.Context) {
	c.CleanTrailer()
	for name, values := range c.Response.Trailer {
		if headers.Check(name, values) != nil {
			delete(c.Response.Trailer, name)
		}
	}
}
