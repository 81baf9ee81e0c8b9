package gozer_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/static"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// at makes the instances that a source reports for a service.
func at(service string, ports ...int) []discovery.Instance {
	var list []discovery.Instance
	for _, port := range ports {
		list = append(list, discovery.Instance{Service: service, Host: "10.0.0.1", Port: port})
	}
	return list
}

// discovered is a gateway at work that has heard of the services in update.
type discovered struct {
	*running
	*gozer.Gateway
	source *static.Source
	built  int // filters, that is snapshots
}

func discover(t *testing.T, yaml string, update discovery.Update) *discovered {
	t.Helper()
	d := &discovered{source: static.New(update)}
	p := &place{network: memhttp.NewNetwork()}
	d.Gateway = newGateway(t, yaml+"zuul.Banner.pre.disable: true\n", gozer.WithDiscovery(d.source), gozer.WithFilters(banner(&d.built)), p.listen())
	d.running = run(t, d.Gateway)
	synctest.Wait()
	return d
}

func (d *discovered) report(update discovery.Update) {
	d.source.Replace(update)
	synctest.Wait()
}

func (d *discovered) end(t *testing.T) {
	t.Helper()
	d.stop()
	if err := <-d.done; err != nil {
		t.Error(err)
	}
}

func (d *discovered) wantRoutes(t *testing.T, want string) {
	t.Helper()
	wantAnswer(t, get(t, d.Management(), "/actuator/routes"), http.StatusOK, want)
}

func (d *discovered) wantServers(t *testing.T, service string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, addresses(d.Gateway, service)); diff != "" {
		t.Errorf("servers of %s: %s", service, diff)
	}
}

func TestDiscoveredRoutes(t *testing.T) {
	const mapper = `
gateway.service-route-mapper:
  service-pattern: "(?P<name>.*)-(?P<version>v.*$)"
  route-pattern: "${version}/${name}"
`
	tests := []struct{ name, yaml, service, want string }{
		{"zuul 54 an ignored service gets none", "zuul.ignored-services: my*\n", "myservice", `{}`},
		{
			"zuul 55 a static route of an ignored service stays", "zuul:\n  ignored-services: '*'\n  routes.myservice: /foo/**\n", "myservice",
			`{"/foo/**":"myservice"}`,
		},
		{"zuul 58 a service gets a route", "", "myservice", `{"/myservice/**":"myservice"}`},
		{
			"zuul 59 a static route wins", "zuul.routes.own: /myservice/**=https://example.com/myservice\n", "myservice",
			`{"/myservice/**":"https://example.com/myservice"}`,
		},
		{"zuul 60 not for the gateway itself", "spring.application.name: myservice\n", "myservice", `{}`},
		{
			"zuul 60 unless it may", "spring.application.name: myservice\nzuul.ignore-local-service: false\n", "myservice",
			`{"/myservice/**":"myservice"}`,
		},
		{"zuul 61 by a mapper", mapper, "rest-service-v1", `{"/v1/rest-service/**":"rest-service-v1"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := discover(t, tt.yaml, discovery.Update{tt.service: at(tt.service, 80)})
				d.wantRoutes(t, tt.want)
				d.wantServers(t, tt.service, "10.0.0.1:80")
				d.end(t)
			})
		})
	}
}

func TestZuul65DiscoveredServiceAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := discover(t, `
gateway.service-route-mapper:
  service-pattern: "(?P<domain>[^-]+)-(?P<name>.+)-(?P<version>v.+)"
  route-pattern: "${version}/${domain}/${name}"
`, discovery.Update{"domain-service-v1": at("domain-service-v1", 8080)})
		d.SetTransport("domain-service-v1", answerWith(func(r *http.Request) string {
			return fmt.Sprintf("Get %s from %s", r.URL.RequestURI(), r.URL.Host)
		}))
		wantAnswer(t, get(t, d, "/v1/domain/service/get/1"), http.StatusOK, "Get /get/1 from 10.0.0.1:8080")
		d.end(t)
	})
}

func TestInstancesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := discover(t, "", discovery.Update{"users": at("users", 1, 2)})
		before := d.built
		d.wantServers(t, "users", "10.0.0.1:1", "10.0.0.1:2")

		d.report(discovery.Update{"users": at("users", 2, 3)})
		d.wantServers(t, "users", "10.0.0.1:2", "10.0.0.1:3")
		if d.built != before {
			t.Errorf("%d snapshots built for a change of instances", d.built-before)
		}

		d.report(discovery.Update{"users": at("users", 3), "books": at("books", 4)})
		d.wantServers(t, "users", "10.0.0.1:3")
		d.wantServers(t, "books", "10.0.0.1:4")
		d.wantRoutes(t, `{"/books/**":"books","/users/**":"users"}`)

		d.report(discovery.Update{"books": at("books", 4)})
		d.wantServers(t, "users")
		d.wantRoutes(t, `{"/books/**":"books"}`)
		d.end(t)
	})
}

func TestListOfServersOutranksDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := discover(t, usersAt("", "listed:80"), discovery.Update{"users": at("users", 1)})
		d.wantServers(t, "users", "listed:80")
		d.end(t)
	})
}

func TestReloadKeepsDiscoveredServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := discover(t, "", discovery.Update{"users": at("users", 1)})
		reload(t, d.Gateway, "zuul.prefix: /api\n")
		d.wantRoutes(t, `{"/api/users/**":"users"}`)
		d.wantServers(t, "users", "10.0.0.1:1")

		d.report(discovery.Update{"users": at("users", 1), "books": at("books", 4)})
		d.wantRoutes(t, `{"/api/books/**":"books","/api/users/**":"users"}`)
		d.end(t)
	})
}

func TestInstancesThatCannotBeCalledAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := discover(t, "", discovery.Update{"users": at("users", 0, 80)})
		d.wantServers(t, "users", "10.0.0.1:80")
		d.end(t)
	})
}

func TestSourceThatFailsKeepsItsLastReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{network: memhttp.NewNetwork()}
		g := newGateway(t, "zuul.prefix: /api\n", p.listen(), gozer.WithDiscovery(discovery.SourceFunc(
			func(ctx context.Context, updates chan<- discovery.Update) error {
				select {
				case updates <- discovery.Update{"users": at("users", 1)}:
				case <-ctx.Done():
				}
				return context.DeadlineExceeded
			})))
		r := run(t, g)
		synctest.Wait()
		if diff := cmp.Diff([]string{"10.0.0.1:1"}, addresses(g, "users")); diff != "" {
			t.Error(diff)
		}
		r.stop()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	})
}
