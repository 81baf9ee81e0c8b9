package forwarded_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/forwarded"
)

func TestWalk(t *testing.T) {
	proxies := forwarded.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	tests := map[string]struct {
		lines  []string
		client string
		hops   int
	}{
		"nothing is said": {nil, "10.0.0.1", 1},
		"one address":     {[]string{"203.0.113.9"}, "203.0.113.9", 1},
		"C251 a spoofed one in front of the real":   {[]string{"6.6.6.6, 203.0.113.9"}, "203.0.113.9", 1},
		"C251 a spoofed proxy in front of the real": {[]string{"10.9.9.9, 203.0.113.9"}, "203.0.113.9", 1},
		"a second proxy":                 {[]string{"6.6.6.6, 203.0.113.9, 10.0.0.2"}, "203.0.113.9", 2},
		"several lines":                  {[]string{"6.6.6.6", "203.0.113.9, 10.0.0.2", "10.0.0.3"}, "203.0.113.9", 3},
		"empty lines and members":        {[]string{"", " , 203.0.113.9, ,", ","}, "203.0.113.9", 1},
		"all are proxies":                {[]string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3", 3},
		"a word in place of the address": {[]string{"6.6.6.6, unknown, 10.0.0.2"}, "10.0.0.2", 2},
		"garbage":                        {[]string{"6.6.6.6, 1.2.3"}, "10.0.0.1", 1},
		"X01 a port":                     {[]string{"203.0.113.9:8080"}, "203.0.113.9", 1},
		"a bad port":                     {[]string{"203.0.113.9:x"}, "10.0.0.1", 1},
		"IPv6":                           {[]string{"2001:db9::1, 2001:db8::7"}, "2001:db9::1", 2},
		"IPv6 in brackets":               {[]string{"[2001:db9::1]"}, "2001:db9::1", 1},
		"IPv6 with a port":               {[]string{"[2001:db9::1]:443"}, "2001:db9::1", 1},
		"IPv6 with a zone":               {[]string{"fe80::1%eth0"}, "fe80::1", 1},
		"IPv4 in IPv6":                   {[]string{"203.0.113.9, ::ffff:10.0.0.7"}, "203.0.113.9", 2},
		"IPv4 in brackets is no address": {[]string{"[203.0.113.9]"}, "10.0.0.1", 1},
		"more than anybody needs":        {[]string{"203.0.113.9" + strings.Repeat(", 10.0.0.4", 9)}, "10.0.0.4", 9},
		"as many as are looked at, and one is enough": {[]string{strings.Repeat("6.6.6.6,", 500) + "203.0.113.9"}, "203.0.113.9", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, hops := proxies.Walk(netip.MustParseAddr("10.0.0.1"), test.lines, 8)
			if client.String() != test.client || hops != test.hops {
				t.Errorf("got %s after %d, want %s after %d", client, hops, test.client, test.hops)
			}
		})
	}
}

func TestFromEnd(t *testing.T) {
	lines := []string{"a, b", "", "c ,,d"}
	for n, want := range map[int]string{1: "d", 2: "c", 3: "b", 4: "a", 5: "a"} {
		if got := forwarded.FromEnd(lines, n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := forwarded.FromEnd(nil, 1); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestPeerAddr(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7", "[2001:db8::1]:1": "2001:db8::1", "[fe80::1%eth0]:1": "fe80::1", "[::ffff:192.0.2.7]:1": "192.0.2.7",
		"@": "invalid IP", "": "invalid IP", "/run/a.sock": "invalid IP", "192.0.2.7": "invalid IP",
	} {
		if got := forwarded.PeerAddr(remote); got.String() != want {
			t.Errorf("%q: %s, want %s", remote, got, want)
		}
	}
}

func TestIsClaim(t *testing.T) {
	for name, want := range map[string]bool{
		"X-Forwarded-For": true, "X-Forwarded-Client-Cert": true, "Forwarded": true, "X-Real-Ip": true,
		"X_forwarded_for": true, "X-Forwarded_for": true, "X_forwarded-For": true, "X_real_ip": true, "X-Real_ip": true, "X_request_id": true,
		"X_tenant": false, "X_forwarded": false, "_x-Forwarded-For": false, "": false, "X-Forwarded": false, "X-Request-Id": false, "Via": false,
	} {
		if forwarded.IsClaim(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}
