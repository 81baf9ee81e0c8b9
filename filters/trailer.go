package filters

import (
	"net/http"
	"slices"

	"github.com/gozer-gateway/gozer/internal/forwarded"
	"github.com/gozer-gateway/gozer/internal/grpc"
	"github.com/gozer-gateway/gozer/internal/headers"
)

// CleanTrailer deletes from Response.Trailer, as far as it is known yet, what
// must not pass as a trailer field (RFC 9110 6.5.1 and 7.6.1): ignored names,
// those that Connection has named, and fields about framing, routing,
// authentication, the kind of content or where a message comes from.
func (c *Context) CleanTrailer() {
	if c.Response == nil {
		return
	}
	if late := c.received; late.own == c.Response && c.Response.Trailer == nil {
		c.Response.Trailer = late.res.Trailer
	}
	cleanTrailer(c.Response.Trailer, c.connection, c.ignored)
	delete(c.Response.Trailer, c.writer.echo)
}

// Reserve keeps clients from sending a field as a trailer that the gateway alone may send,
// also under a name with "_" for "-". The front doors call it before the filters run.
func (c *Context) Reserve(name string) {
	if c.body != nil {
		c.body.reserved = append(c.body.reserved, name)
	}
}

// EndsInTrailer reports that what has become of a gRPC call is said in the trailer of a
// response whose head has left already: it can be said there too that the response broke
// off, and the client's connection need not be cut.
func (c *Context) EndsInTrailer() bool {
	res := c.Response
	return res != nil && c.Committed() && !c.Aborted() && res.Body != nil && res.ContentLength < 0 &&
		c.IsCall() && grpc.IsContent(res.Header)
}

// received is what an upstream has answered, whose trailer may be there only when
// the body has been read, and the Response that was made of it.
type received struct {
	res *http.Response
	own *Response
}

// cleanTrailer does the same with what the client sends.
func (b *clientBody) cleanTrailer() {
	trailer := b.request.Trailer
	cleanTrailer(trailer, b.request.Header["Connection"], b.ignored)
	for name := range trailer {
		if slices.ContainsFunc(b.reserved, func(own string) bool { return headers.Alike(name, own) }) {
			delete(trailer, name)
		}
	}
}

func cleanTrailer(trailer http.Header, connection []string, ignored ignored) {
	headers.Strip(trailer)
	for name := range trailer {
		if ignored.has(name) || headers.MustLead(name) || forwarded.IsClaim(name) || headers.Lists(connection, name) {
			delete(trailer, name)
		}
	}
}
