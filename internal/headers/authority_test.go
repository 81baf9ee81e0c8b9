package headers_test

import (
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/headers"
)

func TestParseAuthority(t *testing.T) {
	good := map[string]headers.Authority{
		"g.test":            {Name: "g.test"},
		"g.test:8080":       {Name: "g.test", Port: "8080"},
		"g.test:":           {Name: "g.test"},
		"G_1-a~%c3%A9.test": {Name: "G_1-a~%c3%A9.test"},
		"127.0.0.1:1":       {Name: "127.0.0.1", Port: "1"},
		"[::1]":             {Name: "[::1]"},
		"[::1]:8080":        {Name: "[::1]", Port: "8080"},
		"[::1]:":            {Name: "[::1]"},
	}
	for host, want := range good {
		if got, ok := headers.ParseAuthority(host); got != want || !ok {
			t.Errorf("%q: %+v, %v", host, got, ok)
		}
	}
	for host := range strings.SplitSeq(`|a b|g.test/evil|g.test:80:80|[::1|[::1]8080|[::1]x:80|[g.test]|[127.0.0.1]|[fe80::1%eth0]|`+
		`g.test@evil|u:p@g.test|g.test:80a|g.test:+80|g.test:0|g.test:65536|:80|%41.test|a%|a%c|a%+8.test|a%zz|g.test?x|g.test#x|g.test\evil|caf`+"\u00e9|::1|[]", "|") {
		if got, ok := headers.ParseAuthority(host); ok {
			t.Errorf("%q is taken for %+v", host, got)
		}
	}
}

func FuzzParseAuthority(f *testing.F) {
	for _, seed := range []string{"g.test:8080", "[::1]:80", "a@b", "a:1:2", "[::ffff:1.2.3.4]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		a, ok := headers.ParseAuthority(host)
		if !ok {
			return
		}
		joined := a.Name
		if a.Port != "" || strings.HasSuffix(host, ":") {
			joined += ":" + a.Port
		}
		if joined != host {
			t.Errorf("%q became %q", host, joined)
		}
		if strings.ContainsAny(host, "/@?# \\\"<>\r\n\x00") {
			t.Errorf("%q was accepted", host)
		}
	})
}
