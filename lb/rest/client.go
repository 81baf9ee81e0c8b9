package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// The limits of a Client whose own are zero.
const (
	DefaultMaxBody  = 16 << 20
	DefaultMaxError = 64 << 10
)

// Client makes calls. Its fields must not change while calls are made, which any number
// of goroutines may do.
type Client struct {
	// HTTP carries the calls. With a load-balanced transport the host of a URL is the name
	// of a service.
	HTTP *http.Client
	// Base is put in front of templates that begin with "/" or "?", or are empty, such as
	// "http://user-service".
	Base string
	// Encoding is how templates are encoded.
	Encoding Encoding
	// Header goes with every call; the header of a Request is put over it.
	Header http.Header
	// MaxBody bounds what is read of a body that is decoded, in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// MaxError bounds what Error keeps of a body, in bytes; 0 means DefaultMaxError.
	MaxError int64
}

// New makes a client with the defaults around the one that carries the calls.
func New(client *http.Client) *Client { return &Client{HTTP: client} }

// Request is one call.
type Request struct {
	Method string // "" is GET
	// URI is a template, and Vars its variables, as Encoding.Expand takes them.
	URI  string
	Vars []any
	// URL, if not nil, is sent as it is, in place of URI.
	URL    *url.URL
	Header http.Header
	// Body is nil for none; an io.Reader, string or []byte is sent as it is, url.Values as
	// a form, everything else as JSON. A Content-Type in Header wins.
	Body any
}

// Do makes a call. A status from 400 on is an *Error. The caller has to close the body
// of the response.
func (c *Client) Do(ctx context.Context, r Request) (*http.Response, error) {
	call, err := c.newCall(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.do(call)
}

func (c *Client) do(call *call) (*http.Response, error) {
	if c.HTTP == nil {
		return nil, fmt.Errorf("rest: %s: the client has no HTTP client", call)
	}
	res, err := c.HTTP.Do(call.request)
	if err != nil {
		return nil, fmt.Errorf("rest: %s: %w", call, cause(err))
	}
	if res.StatusCode >= http.StatusBadRequest {
		return nil, call.refused(res, orDefault(c.MaxError, DefaultMaxError))
	}
	return res, nil
}

// cause takes away net/http's own envelope, which would show the whole URL with its query.
func cause(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// call is a request on its way, and how errors name it.
type call struct {
	request *http.Request
	uri     string // the template, which has no values in it
}

func (c *call) String() string { return c.request.Method + " " + c.uri }

func (c *Client) newCall(ctx context.Context, r Request) (*call, error) {
	target, shown, err := c.target(r)
	if err != nil {
		return nil, err
	}
	body, kind, err := encode(r.Body)
	if err != nil {
		return nil, fmt.Errorf("rest: %s %s: %w", r.Method, shown, err)
	}
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, "http://host/", body)
	if err != nil {
		return nil, fmt.Errorf("rest: %s: %w", shown, err)
	}
	req.URL, req.Host = target, target.Host
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for _, header := range []http.Header{c.Header, r.Header} {
		for name, values := range header {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return &call{req, shown}, nil
}

// target gives the URL, and what of it an error may show.
func (c *Client) target(r Request) (target *url.URL, shown string, err error) {
	if r.URL != nil {
		copied := *r.URL
		plain := url.URL{Scheme: copied.Scheme, Host: copied.Host, Path: copied.Path, RawPath: copied.RawPath}
		return &copied, plain.String(), nil
	}
	template := r.URI
	if template == "" || template[0] == '/' && !strings.HasPrefix(template, "//") || template[0] == '?' {
		template = c.Base + template
	}
	target, err = c.Encoding.Expand(template, r.Vars...)
	if err != nil {
		return nil, "", err
	}
	return target, withoutPassword(template), nil
}

// withoutPassword drops user information, which may hold a password, from a template.
func withoutPassword(template string) string {
	start := schemeEnd(template)
	if start < 0 {
		return template
	}
	rest := template[start+len("://"):]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return template
	}
	return template[:start] + "://***" + rest[at:]
}

func orDefault(n, otherwise int64) int64 {
	if n == 0 {
		return otherwise
	}
	return n
}

// The calls whose answer is not decoded.

// Get gives the response itself; the caller has to close its body.
func (c *Client) Get(ctx context.Context, uri string, vars ...any) (*http.Response, error) {
	return c.Do(ctx, Request{URI: uri, Vars: vars})
}

// Head gives the fields of the response.
func (c *Client) Head(ctx context.Context, uri string, vars ...any) (http.Header, error) {
	return c.header(ctx, Request{Method: http.MethodHead, URI: uri, Vars: vars})
}

// Put sends body; what may be said to that is dropped.
func (c *Client) Put(ctx context.Context, uri string, body any, vars ...any) error {
	_, err := c.header(ctx, Request{Method: http.MethodPut, URI: uri, Vars: vars, Body: body})
	return err
}

// Delete deletes; what may be said to that is dropped.
func (c *Client) Delete(ctx context.Context, uri string, vars ...any) error {
	_, err := c.header(ctx, Request{Method: http.MethodDelete, URI: uri, Vars: vars})
	return err
}

// Options gives the methods of the Allow field.
func (c *Client) Options(ctx context.Context, uri string, vars ...any) ([]string, error) {
	header, err := c.header(ctx, Request{Method: http.MethodOptions, URI: uri, Vars: vars})
	if err != nil {
		return nil, err
	}
	var methods []string
	for method := range strings.SplitSeq(strings.Join(header.Values("Allow"), ","), ",") {
		if method = strings.TrimSpace(method); method != "" {
			methods = append(methods, method)
		}
	}
	return methods, nil
}

// PostLocation sends body and gives the Location of what was made, resolved against the
// URL that was asked for; nil without one.
func (c *Client) PostLocation(ctx context.Context, uri string, body any, vars ...any) (*url.URL, error) {
	res, err := c.Do(ctx, Request{Method: http.MethodPost, URI: uri, Vars: vars, Body: body})
	if err != nil {
		return nil, err
	}
	drop(res)
	location, err := res.Location()
	if errors.Is(err, http.ErrNoLocation) {
		return nil, nil //nolint:nilnil // there is nothing, and nothing is wrong
	}
	if err != nil {
		return nil, errors.New("rest: the Location of the response is no URL")
	}
	return location, nil
}

func (c *Client) header(ctx context.Context, r Request) (http.Header, error) {
	res, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	drop(res)
	return res.Header, nil
}

// maxDrop is how much of a body is read that nobody wants, so that its connection can
// be used again.
const maxDrop = 16 << 10

func drop(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, maxDrop)
	_ = res.Body.Close()
}
