package gozer

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"

	"github.com/gozer-gateway/gozer/config"
)

// explain is the command "gateway explain": it tells what would become of a
// request, and sends nothing.
func (c *command) explain(args []string) int {
	f := c.flags("explain")
	var headers list
	f.set.Var(&headers, "header", "`\"Name: value\"` of the request; may be repeated")
	code, ok := f.parseArguments(args, 2)
	if !ok {
		return code
	}
	cfg, report := f.load(c.options)
	if report.Err() != nil {
		fmt.Fprint(c.err, report)
		return exitFailure
	}
	r, err := requestOf(f.set.Arg(0), f.set.Arg(1), headers)
	if err != nil {
		fmt.Fprintf(c.err, "gateway: %v\n%s", err, usage)
		return exitUsage
	}
	text, err := explain(cfg, r, c.options)
	if err != nil {
		return c.fail(err)
	}
	fmt.Fprint(c.out, text)
	return exitOK
}

// requestOf makes the request as a client of the gateway would send it. The URL may
// be a path alone.
func requestOf(method, url string, headers []string) (*http.Request, error) {
	if strings.HasPrefix(url, "/") {
		url = "http://localhost" + url
	}
	r, err := http.NewRequest(strings.ToUpper(method), url, http.NoBody) //nolint:noctx // it is not sent
	if err != nil {
		return nil, err
	}
	if r.URL.Host == "" {
		return nil, fmt.Errorf("%q is neither a path nor a URL", url)
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, fmt.Errorf("header %q has no colon", h)
		}
		if value = strings.TrimSpace(value); strings.EqualFold(name, "Host") {
			r.Host = value
		} else {
			r.Header.Add(name, value)
		}
	}
	r.RequestURI = r.URL.RequestURI()
	if r.URL.Scheme == "https" {
		r.TLS = &tls.ConnectionState{}
	}
	return r, nil
}

// explain builds the gateway as run would, without starting it, and follows the
// request up to where it would leave.
func explain(cfg *config.Config, r *http.Request, opts []Option) (string, error) {
	g := newGateway(cfg, opts)
	s, err := g.build(cfg)
	if err != nil {
		return "", err
	}
	e := explanation{gateway: g, snapshot: s, config: cfg}
	e.request(r)
	return e.String(), nil
}
