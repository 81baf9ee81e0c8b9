package lb_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/lb"
)

func TestParseServer(t *testing.T) {
	for _, tc := range []struct {
		name, text   string
		scheme, host string
		port         int
		id           string
	}{
		{"ribbon 1 scheme", "http://netflix.com", "http", "netflix.com", 80, "netflix.com:80"},
		{"ribbon 2 scheme and port", "http://netflix.com:8080", "http", "netflix.com", 8080, "netflix.com:8080"},
		{"ribbon 3 https", "https://netflix.com", "https", "netflix.com", 443, "netflix.com:443"},
		{"ribbon 3 https and port", "https://netflix.com:443", "https", "netflix.com", 443, "netflix.com:443"},
		{"ribbon 4 bare host", "netflix.com", "", "netflix.com", 80, "netflix.com:80"},
		{"ribbon 4 host and port", "netflix.com:8080", "", "netflix.com", 8080, "netflix.com:8080"},
		{"ribbon 5 upper case scheme", "HTTP://h:81/", "http", "h", 81, "h:81"},
		{"ribbon Q1 blanks", "  h:81\t", "", "h", 81, "h:81"},
		{"case of the host is kept", "My_Host-1.x:81", "", "My_Host-1.x", 81, "My_Host-1.x:81"},
		{"C153 bracketed address", "[::1]:9001", "", "::1", 9001, "[::1]:9001"},
		{"C153 bracketed address without port", "https://[::1]", "https", "::1", 443, "[::1]:443"},
		{"C153 zone identifier", "http://[fe80::1%25eth0]:90", "http", "fe80::1%eth0", 90, "[fe80::1%eth0]:90"},
		{"highest port", "h:65535", "", "h", 65535, "h:65535"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := lb.ParseServer(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if s.Scheme != tc.scheme || s.Host != tc.host || s.Port != tc.port || s.ID != tc.id {
				t.Errorf("scheme %q host %q port %d id %q", s.Scheme, s.Host, s.Port, s.ID)
			}
			if s.HostPort() != tc.id || s.Secure != (tc.scheme == "https") || s.Zone != "UNKNOWN" {
				t.Errorf("host:port %q secure %t zone %q", s.HostPort(), s.Secure, s.Zone)
			}
		})
	}
}

func TestParseServerRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, complaint string }{
		{"ribbon 7 port is no number", "h:x", "no usable port"},
		{"port with sign", "h:+80", "no usable port"},
		{"port 0", "h:0", "no usable port"},
		{"port too large", "h:65536", "no usable port"},
		{"port missing", "h:", "no usable port"},
		{"nothing", " ", "host"},
		{"no host", ":80", "host"},
		{"C153 unbracketed address", "::1:9001", "host"},
		{"C153 brackets around IPv4", "http://[127.0.0.1]:9001", "host"},
		{"C153 brackets around a name", "[evil.test]:80", "host"},
		{"bracket left open", "[::1:80", "host"},
		{"text behind the bracket", "[::1]x:80", "host"},
		{"C157 path", "https://localhost:9443/x", "has a path"},
		{"path without scheme", "localhost/x", "has a path"},
		{"query", "h:80?x=1", "no usable port"},
		{"user", "me@h:80", "host"},
		{"blank inside", "a b:80", "host"},
		{"other scheme", "ws://h:1", "other than http"},
		{"empty scheme", "://h", "other than http"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := lb.ParseServer(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.complaint) {
				t.Errorf("got %v, %v; want a complaint with %q", s, err, tc.complaint)
			}
		})
	}
}

func TestParseServers(t *testing.T) {
	for _, tc := range []struct {
		name  string
		lists []string
		ids   []string
		fails bool
	}{
		{"ribbon 8 unset", nil, nil, false},
		{"ribbon 8 empty", []string{""}, nil, false},
		{"ribbon 9", []string{"abc.com:80,microsoft.com,1.2.3.4:8080"}, []string{"abc.com:80", "microsoft.com:80", "1.2.3.4:8080"}, false},
		{"ribbon 10 trailing comma", []string{"a, b ,"}, []string{"a:80", "b:80"}, false},
		{"ribbon 10 blank in the middle", []string{"a,,b"}, []string{"a:80", "b:80"}, false},
		{"several lists", []string{"a", "b,c"}, []string{"a:80", "b:80", "c:80"}, false},
		{
			"C157 bad entries do not take the others along",
			[]string{" http://127.0.0.1:9001/ , 127.0.0.1:9002,, https://localhost:9443/x "},
			[]string{"127.0.0.1:9001", "127.0.0.1:9002"},
			true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			servers, err := lb.ParseServers(tc.lists...)
			if (err != nil) != tc.fails {
				t.Error(err)
			}
			var ids []string
			for _, s := range servers {
				ids = append(ids, s.ID)
			}
			if diff := cmp.Diff(tc.ids, ids); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Ribbon 6: scheme, zone and the rest do not matter.
func TestSame(t *testing.T) {
	a, err := lb.ParseServer("http://a:80")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		b    lb.Server
		want bool
	}{
		{"ribbon 6 other scheme and zone", lb.Server{Host: "a", Port: 80, Zone: "z"}, true},
		{"other port", lb.Server{Host: "a", Port: 81}, false},
		{"other id at one address", lb.Server{ID: "x", Host: "a", Port: 80}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := a.Same(&tc.b); got != tc.want {
				t.Errorf("same: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestServerOutsideABalancer(t *testing.T) {
	var s lb.Server
	if s.Stats() != nil || s.Alive() {
		t.Errorf("stats %v, alive %t; want none and false", s.Stats(), s.Alive())
	}
}
