package filters_test

import (
	"errors"
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/internal/forwarded"
	"github.com/gozer-gateway/gozer/internal/race"
)

type origin struct {
	Addr, Scheme, Host string
	Proxied            bool
}

func originOf(c *filters.Context) origin {
	o := c.Origin()
	return origin{o.Addr.String(), o.Scheme, o.Host, o.Proxied}
}

func trusting(networks ...string) *filters.Trust {
	t := &filters.Trust{MaxHops: 64}
	for _, n := range networks {
		t.Proxies = append(t.Proxies, netip.MustParsePrefix(n))
	}
	return t
}

func TestOrigin(t *testing.T) {
	const spoofed = "6.6.6.6"
	tests := map[string]struct {
		trust   *filters.Trust
		target  string
		remote  string
		headers []string // name, value, …
		want    origin
	}{
		"F09 nobody is trusted": {
			nil, "GET http://g.test/", "10.0.0.1:1",
			[]string{forwarded.For, spoofed, forwarded.Proto, "https", forwarded.Host, "evil.test"},
			origin{"10.0.0.1", "http", "g.test", false},
		},
		"F09 C251 others are trusted": {
			trusting("10.0.0.0/8"), "GET http://g.test/", "192.0.2.1:1",
			[]string{forwarded.For, spoofed, forwarded.Proto, "https", forwarded.Host, "evil.test", "True-Client-Ip", spoofed, "X-Real-Ip", spoofed},
			origin{"192.0.2.1", "http", "g.test", false},
		},
		"the peer is trusted and says nothing": {
			trusting("10.0.0.0/8"), "GET https://g.test:8443/", "10.0.0.1:1", nil,
			origin{"10.0.0.1", "https", "g.test:8443", true},
		},
		"the peer is trusted": {
			trusting("10.0.0.0/8"), "GET http://g.test/", "10.0.0.1:1",
			[]string{forwarded.For, "203.0.113.9", forwarded.Proto, "HTTPS", forwarded.Host, "shop.test"},
			origin{"203.0.113.9", "https", "shop.test", true},
		},
		"C251 a client behind a trusted peer lies": {
			trusting("10.0.0.0/8"), "GET http://g.test/", "10.0.0.1:1",
			[]string{forwarded.For, spoofed + ", 203.0.113.9", "X-Real-Ip", spoofed, "Forwarded", "for=" + spoofed, "True-Client-Ip", spoofed},
			origin{"203.0.113.9", "http", "g.test", true},
		},
		"X02 stacked gateways, behind a client that lies": {
			trusting("10.0.0.0/8"), "GET http://g.test/", "10.0.0.1:1",
			[]string{
				forwarded.For, spoofed + ", 203.0.113.9, 10.0.0.2", forwarded.Proto, "ftp,https,http",
				forwarded.Host, "evil.test,shop.test,inner.test", forwarded.Port, "1,8443,80",
			},
			origin{"203.0.113.9", "https", "shop.test:8443", true},
		},
		"C051 the usual port of the scheme": {
			trusting("10.0.0.0/8"), "GET http://g.test:8080/", "10.0.0.1:1",
			[]string{forwarded.Proto, "https", forwarded.Host, "shop.test", forwarded.Port, "443"},
			origin{"10.0.0.1", "https", "shop.test", true},
		},
		"C051 a port of IPv6": {
			trusting("10.0.0.0/8"), "GET http://g.test:8080/", "10.0.0.1:1",
			[]string{forwarded.Host, "[2001:db8::1]", forwarded.Port, "8443"},
			origin{"10.0.0.1", "http", "[2001:db8::1]:8443", true},
		},
		"what is no host, scheme or port": {
			trusting("10.0.0.0/8"), "GET http://g.test/", "10.0.0.1:1",
			[]string{forwarded.Proto, "javascript", forwarded.Host, "evil.test/x", forwarded.Port, "99999"},
			origin{"10.0.0.1", "http", "g.test", true},
		},
		"a bad port beside a good host": {
			trusting("10.0.0.0/8"), "GET http://g.test/", "10.0.0.1:1",
			[]string{forwarded.Host, "shop.test", forwarded.Port, "99999"},
			origin{"10.0.0.1", "http", "shop.test", true},
		},
		"IPv4 in IPv6":   {trusting("10.0.0.0/8"), "GET http://g.test/", "[::ffff:10.0.0.1]:1", []string{forwarded.For, "::ffff:203.0.113.9"}, origin{"203.0.113.9", "http", "g.test", true}},
		"a zone":         {trusting("fe80::/10"), "GET http://g.test/", "[fe80::1%eth0]:1", []string{forwarded.For, "2001:db8::1"}, origin{"2001:db8::1", "http", "g.test", true}},
		"loopback":       {trusting("127.0.0.0/8", "::1/128"), "GET http://g.test/", "[::1]:1", []string{forwarded.For, "2001:db8::1"}, origin{"2001:db8::1", "http", "g.test", true}},
		"a Unix socket":  {trusting("0.0.0.0/0", "::/0"), "GET http://g.test/", "@", []string{forwarded.For, spoofed}, origin{"invalid IP", "http", "g.test", false}},
		"all the world":  {trusting("0.0.0.0/0"), "GET http://g.test/", "192.0.2.1:1", []string{forwarded.For, "1.1.1.1, 2.2.2.2"}, origin{"1.1.1.1", "http", "g.test", true}},
		"a word, no one": {trusting("10.0.0.0/8"), "GET http://g.test/", "10.0.0.1:1", []string{forwarded.For, spoofed + ", unknown"}, origin{"10.0.0.1", "http", "g.test", true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			options := []filtertest.Option{filtertest.RemoteAddr(test.remote), filtertest.Trust(test.trust)}
			for i := 0; i < len(test.headers); i += 2 {
				options = append(options, filtertest.Header(test.headers[i], test.headers[i+1]))
			}
			if diff := cmp.Diff(test.want, originOf(filtertest.New(t, test.target, options...))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestOriginByForwarded(t *testing.T) {
	const spoofed = "for=6.6.6.6;host=evil.test;proto=ftp"
	tests := map[string]struct {
		remote string
		lines  []string
		want   origin
		chain  string
	}{
		"F09 of others":          {"192.0.2.1:1", []string{spoofed}, origin{"192.0.2.1", "http", "g.test", false}, ""},
		"F09 a client lies":      {"10.0.0.1:1", []string{spoofed + `, for="[2001:db8::1]:4711";host="shop.test:8443";proto=HTTPS`}, origin{"2001:db8::1", "https", "shop.test:8443", true}, "6.6.6.6, 2001:db8::1"},
		"F02 lines, two proxies": {"10.0.0.1:1", []string{spoofed, "for=203.0.113.9;host=shop.test", "for=10.0.0.2;host=inner.test"}, origin{"203.0.113.9", "http", "shop.test", true}, "6.6.6.6, 203.0.113.9, 10.0.0.2"},
		"F05 unknown":            {"10.0.0.1:1", []string{"for=unknown;proto=https"}, origin{"10.0.0.1", "https", "g.test", true}, "unknown"},
		"nothing":                {"10.0.0.1:1", nil, origin{"10.0.0.1", "http", "g.test", true}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			trust := trusting("10.0.0.0/8")
			trust.Forwarded = true
			options := []filtertest.Option{filtertest.RemoteAddr(test.remote), filtertest.Trust(trust), filtertest.Header(forwarded.For, "7.7.7.7")}
			for _, line := range test.lines {
				options = append(options, filtertest.Header("Forwarded", line))
			}
			c := filtertest.New(t, "GET http://g.test/", options...)
			if diff := cmp.Diff(test.want, originOf(c)); diff != "" || c.Origin().Chain != test.chain || c.Err != nil {
				t.Errorf("%q %v, -want +got\n%s", c.Origin().Chain, c.Err, diff)
			}
			if got := c.Out.Header.Get(forwarded.For); got != "" {
				t.Errorf("F08 the other family goes upstream: %s", got)
			}
		})
	}
	t.Run("a quote that swallows what the proxy has added", func(t *testing.T) {
		trust := trusting("192.0.2.0/24")
		trust.Forwarded = true
		c := filtertest.New(t, "GET /", filtertest.Trust(trust), filtertest.Header("Forwarded", `for="6.6.6.6, for=203.0.113.9`))
		if refused, ok := errors.AsType[*filters.StatusError](c.Err); !ok || refused.Status != http.StatusBadRequest {
			t.Errorf("%v", c.Err)
		}
	})
}

func TestRealIPIsThatOfTheClient(t *testing.T) {
	c := filtertest.New(t, "GET /", filtertest.Trust(trusting("192.0.2.0/24")), filtertest.Header(forwarded.For, "203.0.113.9"), filtertest.Header(forwarded.RealIP, "6.6.6.6"))
	if got := c.Out.Header[forwarded.RealIP]; len(got) != 1 || got[0] != "203.0.113.9" {
		t.Errorf("C251 X-Real-IP goes upstream as %q", got)
	}
}

func TestNobodyElsesWordTravels(t *testing.T) {
	claims := []string{
		forwarded.For, forwarded.Host, forwarded.Proto, forwarded.Port, forwarded.Prefix, forwarded.RealIP,
		"X-Forwarded-Client-Cert", "X-Forwarded-User",
	}
	for name, test := range map[string]struct {
		trust *filters.Trust
		pass  bool
	}{
		"F09 nobody is trusted": {nil, false}, "F09 others are trusted": {trusting("10.0.0.0/8"), false}, "the peer is trusted": {trusting("192.0.2.0/24"), true},
	} {
		for _, claim := range claims {
			t.Run(name+", "+claim, func(t *testing.T) {
				c := filtertest.New(t, "GET /", filtertest.Trust(test.trust), filtertest.Header(claim, "x"), filtertest.Header("Connection", claim))
				if got := c.Out.Header.Get(claim) != ""; got != test.pass {
					t.Errorf("it goes upstream: %v", got)
				}
			})
		}
	}
}

func TestJudgeAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for name, trust := range map[string]*filters.Trust{
		"nobody is trusted": nil, "the peer is not trusted": trusting("10.0.0.0/8"), "the peer is trusted": trusting("192.0.2.0/24"),
	} {
		like := filtertest.New(t, "GET http://g.test/", filtertest.Header(forwarded.For, "1.1.1.1, 192.0.2.9"), filtertest.Header(forwarded.Proto, "https"))
		var lent filters.Contexts
		got := testing.AllocsPerRun(200, func() {
			c := lent.New(like.Writer(), like.Request, like.Path, like.Start)
			_ = trust.Judge(c)
			if !c.Origin().Addr.IsValid() {
				t.Error("no address")
			}
			lent.Recycle(c)
		})
		if got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// Upstreams that cannot tell "_" from "-" would take them for the gateway's own, and a
// trusted proxy has only passed them on.
func TestClaimsInDisguise(t *testing.T) {
	for name, trust := range map[string]*filters.Trust{"of others": nil, "of a trusted proxy": trusting("10.0.0.0/8"), "of one that writes Forwarded": {Proxies: trusting("10.0.0.0/8").Proxies, Forwarded: true, MaxHops: 1}} {
		for _, header := range []string{"X_forwarded_for", "X-Forwarded_for", "X_forwarded_client_cert", "X_real_ip", "X_request_id"} {
			c := filtertest.New(t, "GET http://g.test/", filtertest.RemoteAddr("10.0.0.1:1"), filtertest.Header(header, "6.6.6.6"), filtertest.Header("X_tenant", "acme"))
			if err := trust.Judge(c); err != nil {
				t.Fatal(err)
			}
			if c.Out.Header[header] != nil || c.Out.Header["X_tenant"] == nil {
				t.Errorf("F09 %s, %s: %v", name, header, c.Out.Header)
			}
		}
	}
}
