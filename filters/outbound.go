package filters

import (
	"io"
	"net/http"
	"net/url"
)

// Outbound is what will be sent upstream. It starts as the client's request
// without hop-by-hop fields and without what anybody but a trusted proxy says
// about where it comes from; pre filters change it freely. The route phase
// takes it as it then stands.
type Outbound struct {
	Method string

	// Path is the escaped path, sent byte for byte. PreDecoration sets it to
	// the route-local path; empty is sent as "/".
	Path string

	// Query is the raw query without "?", sent byte for byte.
	Query string

	// ForceQuery sends the "?" even though Query is empty, because the client
	// did.
	ForceQuery bool

	// Host is the Host field; empty means the chosen server's own host.
	Host string

	// Header holds the end-to-end fields. A field that a filter sets here is
	// sent even when its name is sensitive or ignored: those lists concern
	// what the client sent. The value slices of untouched fields are shared
	// with Context.Request; use Set, Add and Del, not index assignment into a
	// slice.
	Header http.Header

	// Body is the request body, streamed; http.NoBody when there is none.
	Body io.ReadCloser

	// ContentLength is the length of Body in bytes, -1 when it is not known.
	// A filter that replaces Body sets it too.
	ContentLength int64

	// URL is the target of a URL route; nil for a service route. Its path is
	// put in front of Path. Setting it sends the request there instead of to
	// a service.
	URL *url.URL

	memory *memory // nil: none
}

// SetField sets a field to one value, as Header.Set does but for a name in
// canonical form, and without allocating for the first few.
func (o *Outbound) SetField(name, value string) { o.Header[name] = o.memory.value(value) }

func outboundOf(r *http.Request, header http.Header) Outbound {
	return Outbound{
		Method:        r.Method,
		Query:         r.URL.RawQuery,
		ForceQuery:    r.URL.ForceQuery,
		Header:        header,
		Body:          r.Body,
		ContentLength: r.ContentLength,
	}
}
