package pre_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/pre"
	"github.com/gozer-gateway/gozer/internal/forwarded"
)

// believing trusts the peers of a network, and Forwarded of theirs if that is said.
func believing(network string, forwarded bool) filtertest.Option {
	return filtertest.Trust(&filters.Trust{Proxies: []netip.Prefix{netip.MustParsePrefix(network)}, MaxHops: 64, Forwarded: forwarded})
}

func TestForwarded(t *testing.T) {
	const peer, nobody = "5.6.7.8/32", "10.0.0.0/8"
	add, replace := pre.Forwarded{Mode: "add"}, pre.Forwarded{Mode: "replace"}
	tests := map[string]struct {
		settings  pre.Forwarded
		trust     filtertest.Option
		remote    string
		received  http.Header
		want, xff string // anchored expressions
	}{
		"F07 F10 by default nothing": {pre.Forwarded{}, believing(peer, true), client, http.Header{"Forwarded": {"for=1.1.1.1"}}, "", "1.1.1.1, 5.6.7.8"},
		"F06 F07 the first hop":      {add, believing(nobody, true), client, nil, `for=5.6.7.8;host="g.test:8080";proto=http`, "5.6.7.8"},
		"F09 of others":              {add, believing(nobody, true), client, http.Header{"Forwarded": {"for=6.6.6.6"}, xfFor: {"6.6.6.6"}}, `for=5.6.7.8;host="g.test:8080";proto=http`, "5.6.7.8"},
		"F01 F02 F03 F05 at the end": {
			add, believing(peer, true), client,
			http.Header{"Forwarded": {`for=unknown;x=y, FOR="[2001:db8::1]:80";by=_hidden`, "for=1.2.3.4;proto=https"}},
			`for=unknown;x=y, FOR="\[2001:db8::1\]:80";by=_hidden, for=1.2.3.4;proto=https, for=5.6.7.8;host="g.test:8080";proto=http`,
			"unknown, 2001:db8::1, 1.2.3.4, 5.6.7.8",
		},
		"F04 IPv6":              {add, believing(nobody, true), "[::1]:40000", nil, `for="\[::1\]";host="g.test:8080";proto=http`, "::1"},
		"F04 IPv6 with a port":  {pre.Forwarded{Mode: "add", For: "address-port"}, believing(nobody, true), "[::1]:40000", nil, `for="\[::1\]:40000";host="g.test:8080";proto=http`, "::1"},
		"F04 IPv4 with a port":  {pre.Forwarded{Mode: "add", For: "address-port"}, believing(nobody, true), client, nil, `for="5.6.7.8:40000";host="g.test:8080";proto=http`, "5.6.7.8"},
		"F05 hidden":            {pre.Forwarded{Mode: "add", For: "obfuscated"}, believing(nobody, true), client, nil, `for=_[0-9a-f]{16};host="g.test:8080";proto=http`, "5.6.7.8"},
		"F05 no address at all": {add, believing(nobody, true), "@", nil, `for=unknown;host="g.test:8080";proto=http`, ""},
		"F07 neither":           {pre.Forwarded{Mode: "add", For: "none"}, believing(nobody, true), client, nil, `host="g.test:8080";proto=http`, "5.6.7.8"},
		"F07 by a name":         {pre.Forwarded{Mode: "add", By: "_edge"}, believing(nobody, true), client, nil, `for=5.6.7.8;by=_edge;host="g.test:8080";proto=http`, "5.6.7.8"},
		"F07 by an address":     {pre.Forwarded{Mode: "add", By: "address"}, believing(nobody, true), client, nil, `for=5.6.7.8;by="\[2001:db8::9\]";host="g.test:8080";proto=http`, "5.6.7.8"},
		"F08 from X-Forwarded-For": {
			add, believing(peer, false), client,
			http.Header{xfFor: {"1.1.1.1", "2001:db8::1"}},
			`for=1.1.1.1, for="\[2001:db8::1\]", for=5.6.7.8;host="g.test:8080";proto=http`, "1.1.1.1, 2001:db8::1, 5.6.7.8",
		},
		"F08 both families, X-Forwarded-* wins": {
			add, believing(peer, false), client,
			http.Header{xfFor: {"1.1.1.1"}, "Forwarded": {"for=6.6.6.6"}},
			`for=1.1.1.1, for=5.6.7.8;host="g.test:8080";proto=http`, "1.1.1.1, 5.6.7.8",
		},
		"F08 both families, Forwarded wins": {
			add, believing(peer, true), client,
			http.Header{xfFor: {"6.6.6.6"}, "Forwarded": {"for=1.1.1.1"}},
			`for=1.1.1.1, for=5.6.7.8;host="g.test:8080";proto=http`, "1.1.1.1, 5.6.7.8",
		},
		"replaced by what is known": {
			replace, believing(peer, true), client,
			http.Header{"Forwarded": {`for=6.6.6.6, for=203.0.113.9;host=shop.test;proto=https`}},
			`for=203.0.113.9;host=shop.test;proto=https`, "6.6.6.6, 203.0.113.9, 5.6.7.8",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			options := []filtertest.Option{test.trust, filtertest.RemoteAddr(test.remote)}
			for field, lines := range test.received {
				for _, line := range lines {
					options = append(options, filtertest.Header(field, line))
				}
			}
			c := filtertest.New(t, "GET http://g.test:8080/api/1", options...)
			here := &net.TCPAddr{IP: net.ParseIP("2001:db8::9"), Port: 80}
			c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), http.LocalAddrContextKey, here))
			seen := upstreamSees(t, c, pre.PreDecoration(pre.Settings{Table: users(t), AddProxyHeaders: true, Forwarded: test.settings})).Header
			got := seen.Get("Forwarded")
			if len(seen["Forwarded"]) > 1 || !regexp.MustCompile("^"+test.want+"$").MatchString(got) {
				t.Errorf("Forwarded: %q, want %s", seen["Forwarded"], test.want)
			}
			if got := seen.Get(xfFor); got != test.xff {
				t.Errorf("X-Forwarded-For: %q, want %q", got, test.xff)
			}
			if elements, ok := forwarded.Parse(seen["Forwarded"]); !ok || test.want != "" && len(elements) == 0 {
				t.Errorf("%q cannot be read", got)
			}
		})
	}
}

func TestConvertedFieldsAgree(t *testing.T) {
	t.Run("F08 X02 X-Forwarded-* of what Forwarded says", func(t *testing.T) {
		c := filtertest.New(t, "GET http://g.test:8080/api/1", believing("5.6.7.8/32", true), filtertest.RemoteAddr(client),
			filtertest.Header("Forwarded", "for=203.0.113.9;host=shop.test;proto=https"), filtertest.Header(xfHost, "evil.test"), filtertest.Header(xfPrefix, "/evil"))
		got := forwardedFields(upstreamSees(t, c, pre.PreDecoration(pre.Settings{Table: users(t), AddProxyHeaders: true})).Header)
		want := fields{xfFor: "203.0.113.9, 5.6.7.8", xfHost: "shop.test,g.test:8080", xfPort: "443,8080", xfProto: "https,http", xfPrefix: "/api"}
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %q, want %q", name, got[name], value)
			}
		}
	})
}
