package gozer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// No header of a client chooses the upstream, the path or debugging.
func TestHeadersOfClientsControlNothing(t *testing.T) {
	g := newGateway(t, usersAt("", "one:80"))
	g.SetTransport("users", answerWith(func(r *http.Request) string { return r.Method + " " + r.URL.Host + " " + r.URL.RequestURI() }))
	want := get(t, g, "/users/7").Body.String()
	if !strings.HasPrefix(want, "GET one:80 ") || !strings.HasSuffix(want, "/7") {
		t.Fatalf("asked is %s", want)
	}
	for _, name := range []string{
		"X-Skipper-Proxy", "X-Zuul-ServiceId", "X-Zuul-RouteHost", "X-Zuul-Debug", "X-Zuul-Debug-Header", "X-Eureka-Url", "X-Override-Url", "X-Override-Host",
		"X-Debug-Request", "X-Original-Url", "X-Rewrite-Url", "X-Host", "X-Forwarded-Host", "X-Forwarded-Server", "X-Backend", "X-Upstream", "X-Route-Host",
		"X-Gateway-Fallback", "X-Http-Method-Override", "Forwarded", "Proxy", "Destination",
	} {
		for _, value := range []string{"http://127.0.0.1:9002/evil", "127.0.0.1:9002", "true", "/evil"} {
			t.Run(fmt.Sprintf("C246 %s: %s", name, value), func(t *testing.T) {
				got := ask(t, g, http.MethodGet, "/users/7", name, value)
				wantAnswer(t, got, http.StatusOK, want)
				if debug := got.Header()["X-Zuul-Debug-Header"]; debug != nil {
					t.Errorf("debugging: %q", debug)
				}
			})
		}
	}
	t.Run("C246 ?debug=true", func(t *testing.T) {
		got := ask(t, g, http.MethodGet, "/users/7?debug=true")
		if debug := got.Header()["X-Zuul-Debug-Header"]; debug != nil {
			t.Errorf("debugging: %q", debug)
		}
	})
}

// The key of a client is its judged address: what it says itself has no effect, and
// neither has what it puts in front of a proxy's word.
func TestKeyOfAClientIsItsJudgedAddress(t *testing.T) {
	for name, header := range map[string]func(i int) []string{
		"C251 of nobody that is trusted": func(i int) []string {
			spoofed := fmt.Sprintf("6.6.6.%d", i)
			return []string{"X-Forwarded-For", spoofed, "X-Real-Ip", spoofed, "Forwarded", "for=" + spoofed, "True-Client-Ip", spoofed}
		},
		"C251 behind a trusted proxy": func(i int) []string {
			spoofed := fmt.Sprintf("6.6.6.%d", i)
			return []string{"X-Forwarded-For", spoofed + ", 203.0.113.9", "X-Real-Ip", spoofed, "Forwarded", "for=" + spoofed, "True-Client-Ip", spoofed}
		},
	} {
		t.Run(name, func(t *testing.T) {
			trusted := "10.0.0.0/8"
			if name == "C251 behind a trusted proxy" {
				trusted = "192.0.2.0/24"
			}
			g := newGateway(t, `
zuul.routes.users: /users/**
server.forward-headers.trusted-proxies: `+trusted+`
gateway.load-balancing.users.hash-on: address
users.ribbon: {listOfServers: "a:1,b:1,c:1,d:1", NFLoadBalancerRuleClassName: ConsistentHash}
`)
			g.SetTransport("users", answerWith(func(r *http.Request) string { return r.URL.Host }))
			first := ask(t, g, http.MethodGet, "/users/x", header(0)...).Body.String()
			for i := range 20 {
				wantAnswer(t, ask(t, g, http.MethodGet, "/users/x", header(i)...), http.StatusOK, first)
			}
		})
	}
}
