package filters

import (
	"net/http"
	"slices"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// IgnoreHeaders drops the named fields, in any case, from what passes between
// client and upstream, in both directions. It concerns received fields only:
// fields that a filter sets itself pass.
func (c *Context) IgnoreHeaders(names ...string) {
	for _, name := range names {
		c.ignored.more = append(c.ignored.more, http.CanonicalHeaderKey(name))
	}
}

// IgnoreHeaderSet is IgnoreHeaders for a set prepared once; it replaces the
// set of an earlier call and keeps the names given to IgnoreHeaders.
func (c *Context) IgnoreHeaderSet(set headers.Set) { c.ignored.set = set }

// IgnoresHeader reports whether a received field is dropped. name is in
// canonical form.
func (c *Context) IgnoresHeader(name string) bool {
	return c.ignored.has(name)
}

// ignored are the names of fields that do not pass.
type ignored struct {
	set  headers.Set
	more []string
}

func (i ignored) has(name string) bool { return i.set.Has(name) || slices.Contains(i.more, name) }

// DropIgnored deletes from Out.Header, and from the trailer that the client has
// announced, what it sent under ignored names. Values that filters have set or
// added stay. Route filters call it before they send.
func (c *Context) DropIgnored() {
	if c.body != nil {
		c.body.ignored = c.ignored
		c.body.cleanTrailer()
	}
	for name := range c.ignored.set {
		headers.DropReceived(c.Out.Header, c.Request.Header, name)
	}
	for _, name := range c.ignored.more {
		headers.DropReceived(c.Out.Header, c.Request.Header, name)
	}
}

// CleanInterim deletes from the header of an upstream's interim response what Receive
// drops from that of the final one. Route filters have it done while they wait for that.
func (c *Context) CleanInterim(h http.Header) { c.cleanReceived(h) }

// cleanReceived deletes from an upstream's header what ends here and what is ignored.
func (c *Context) cleanReceived(h http.Header) {
	headers.Strip(h)
	delete(h, "X-Application-Context") // names the upstream's Spring application (zuul.md 4.1)
	for name := range c.ignored.set {
		delete(h, name)
	}
	for _, name := range c.ignored.more {
		delete(h, name)
	}
}
