package filters

import (
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/routing"
)

// Contexts lends the contexts of requests, so that serving one allocates little.
// The zero value is ready; any number of goroutines may use it.
type Contexts struct{ idle sync.Pool }

// New is NewContext with memory that earlier requests have used.
func (p *Contexts) New(w http.ResponseWriter, r *http.Request, path routing.Path, start time.Time) *Context {
	c, ok := p.idle.Get().(*Context)
	if !ok {
		return NewContext(w, r, path, start)
	}
	c.begin(w, r, path, start)
	return c
}

// Recycle ends a request: it releases what c holds and takes c back. Nobody may
// use c any more.
func (p *Contexts) Recycle(c *Context) {
	c.Release()
	c.memory.forget()
	*c = Context{memory: c.memory}
	p.idle.Put(c)
}

// memory is what a context brings along for the usual request.
type memory struct {
	out      http.Header // Out.Header
	received http.Header // of an upstream's response
	lent     bool        // received is in use
	response Response
	request  http.Request // to an upstream
	target   url.URL      // of request

	values [16]string // of fields with one value
	valued int        // how many are in use

	executions [10]Execution
	attempts   [4]Attempt

	ids string // names for further requests
}

func newMemory() *memory {
	return &memory{out: http.Header{}, received: http.Header{}}
}

// largestHeader is the number of fields up to which a map is used again: one
// that was large once stays so.
const largestHeader = 64

// forget drops what the last request has left.
func (m *memory) forget() {
	m.out, m.received, m.lent = emptied(m.out), emptied(m.received), false
	m.response, m.request, m.target = Response{}, http.Request{}, url.URL{}
	m.attempts = [len(m.attempts)]Attempt{}
	clear(m.values[:m.valued])
	m.valued = 0
}

func emptied(h http.Header) http.Header {
	if len(h) > largestHeader {
		return http.Header{}
	}
	clear(h)
	return h
}

// value returns the values of a field that has one.
func (m *memory) value(v string) []string {
	if m == nil || m.valued == len(m.values) {
		return []string{v}
	}
	n := m.valued
	m.valued++
	m.values[n] = v
	return m.values[n:m.valued:m.valued]
}

// SpareHeader returns an empty map for the header of an upstream's response.
// Route filters hand it to transports that can use it.
func (c *Context) SpareHeader() http.Header {
	if c.memory == nil || c.memory.lent {
		return http.Header{}
	}
	c.memory.lent = true
	return c.memory.received
}

// SpareRequest returns an empty request with an empty URL. Its memory serves
// others once c has been released, unless it is for a body, which a transport may
// still be sending then.
func (c *Context) SpareRequest(withBody bool) *http.Request {
	if m := c.memory; !withBody && m != nil && m.request.URL == nil {
		m.request.URL = &m.target
		return &m.request
	}
	fresh := new(struct {
		http.Request
		target url.URL
	})
	fresh.URL = &fresh.target
	return &fresh.Request
}

// newResponse returns memory for a Response that nobody refers to.
func (c *Context) newResponse() *Response {
	if m := c.memory; m != nil && m.response.Status == 0 && c.Response != &m.response {
		return &m.response
	}
	return new(Response)
}
