package demo

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Hello answers the "forward:" route of the sample gateway.yaml.
func Hello() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "hello from the gateway itself, at "+strconv.Quote(r.URL.Path)+"\n") // the client may have gone
	})
}

// Sights are what a running gateway has to show.
type Sights struct {
	Proxy    string // host:port
	Actuator string // host:port and base path of the endpoints; "" for none

	// Routed reports whether a path pattern leads to a location.
	Routed func(path, location string) bool

	// Endpoints are the ids of those that are served.
	Endpoints []string
}

// sight is one line of the tour.
type sight struct {
	url, shows string
	there      bool
}

// Tour lists the requests worth trying: those that the gateway routes as the
// sample gateway.yaml does, and the endpoints.
func Tour(s Sights) string {
	var b strings.Builder
	b.WriteString("Gozer's demo is running. In another terminal, try:\n\n")
	for _, line := range []sight{
		{s.Proxy + "/users/7", "a service: two instances take turns", s.Routed("/users/**", "users")},
		{s.Proxy + "/legacy/orders?x=1", "a URL route: see what the upstream saw", s.Routed("/legacy/**", "http://"+Legacy+"/app")},
		{s.Proxy + "/local/you", "a handler of the gateway itself", s.Routed("/local/**", "forward:/hello")},
		{s.Proxy + "/nowhere", "no route: Spring's error body", true},
		{s.Actuator + "/routes", "what is routed where", slices.Contains(s.Endpoints, "routes")},
		{s.Actuator + "/filters", "which filters run", slices.Contains(s.Endpoints, "filters")},
	} {
		if line.there {
			fmt.Fprintf(&b, "  curl %-48s # %s\n", `"http://`+line.url+`"`, line.shows)
		}
	}
	b.WriteString("\nPress Ctrl-C to stop.\n\n")
	return b.String()
}
