package gozer

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// health is the command "gateway health": the container's health check, for
// images that have no curl.
func (c *command) health(ctx context.Context, args []string) int {
	f := c.flags("health")
	target := f.set.String("url", "http://127.0.0.1:8081/actuator/health/readiness", "health endpoint to ask")
	ca := f.set.String("ca", "", "PEM `file` of the authorities that vouch for it, instead of the system's")
	certificate := f.set.String("cert", "", "PEM `file` of a client certificate to show")
	key := f.set.String("key", "", "PEM `file` of its key")
	name := f.set.String("server-name", "", "`name` that stands in its certificate, if that of the URL does not")
	if code, ok := f.parse(args); !ok {
		return code
	}
	files, err := tlsout.Files{TrustCertificate: *ca, Certificate: *certificate, PrivateKey: *key}.Load()
	if err != nil {
		return c.fail(flagged(err))
	}
	security := files.Config()
	security.ServerName = *name
	ctx, cancel := context.WithTimeout(ctx, newOptions(c.options).healthPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *target, http.NoBody)
	if err != nil {
		return c.fail(err)
	}
	if req.URL.Scheme != "https" && *ca+*certificate+*name != "" {
		return c.fail(errors.New("gateway: --ca, --cert and --server-name are for a --url that begins with https"))
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: security}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return c.fail(err)
	}
	defer res.Body.Close()
	fmt.Fprintln(c.out, res.Status)
	if res.StatusCode != http.StatusOK {
		return exitFailure
	}
	return exitOK
}

// flagged names the flags whose files are of no use.
func flagged(err error) error {
	var all []error
	for _, problem := range separate(err) {
		if broken, ok := errors.AsType[*tlsout.FileError](problem); ok {
			problem = fmt.Errorf("%s: %w", [...]string{"--ca", "--cert", "--key"}[broken.Part], problem)
		}
		all = append(all, problem)
	}
	return errors.Join(all...)
}
