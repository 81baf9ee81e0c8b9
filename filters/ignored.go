package filters

import (
	"net/http"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// DropIgnored deletes from Out.Header what the client sent and what is ignored.
// Fields that a filter has set are kept. Route filters call it just before they
// send the request.
func (c *Context) DropIgnored() {
	for name, values := range c.Out.Header {
		if c.IgnoresHeader(name) && headers.Inherited(values, c.Request.Header[name]) {
			delete(c.Out.Header, name)
		}
	}
}

func (c *Context) dropIgnoredReceived(h http.Header) {
	delete(h, "X-Application-Context") // the gateway's own, not its upstream's (zuul.md 4.1)
	if len(c.ignored) == 0 && len(c.ignoredToo) == 0 {
		return
	}
	for name := range h {
		if c.IgnoresHeader(name) {
			delete(h, name)
		}
	}
}
