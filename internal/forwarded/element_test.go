package forwarded_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/forwarded"
)

func TestParse(t *testing.T) {
	type elements = []forwarded.Element
	tests := map[string]struct {
		lines []string
		want  elements
	}{
		"F03 names in any case":           {[]string{"FOR=192.0.2.1;Proto=https;X=y"}, elements{{For: "192.0.2.1", Proto: "https"}}},
		"F02 several elements":            {[]string{"for=192.0.2.1, for=192.0.2.2", "for=192.0.2.3"}, elements{{For: "192.0.2.1"}, {For: "192.0.2.2"}, {For: "192.0.2.3"}}},
		"F04 quoted IPv6 with a port":     {[]string{`for="[2001:db8::1]:4711"`}, elements{{For: "[2001:db8::1]:4711"}}},
		"F04 a comma and an escape":       {[]string{`host="a\"b,c;d";by=_x`}, elements{{Host: `a"b,c;d`, By: "_x"}}},
		"F05 unknown and obfuscated":      {[]string{"for=unknown, for=_hidden"}, elements{{For: "unknown"}, {For: "_hidden"}}},
		"F06 a host with a port":          {[]string{`host="g.test:8080";proto=http`}, elements{{Host: "g.test:8080", Proto: "http"}}},
		"a port that is not quoted":       {[]string{"for=192.0.2.1:80;host=g.test:8080"}, elements{{For: "192.0.2.1:80", Host: "g.test:8080"}}},
		"blanks, empty elements and ends": {[]string{"", " , for=a ; proto=http ;, ,"}, elements{{For: "a", Proto: "http"}}},
		"nothing known":                   {[]string{"x=y"}, elements{{}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := forwarded.Parse(test.lines)
			if diff := cmp.Diff(test.want, got); diff != "" || !ok {
				t.Errorf("%v, -want +got\n%s", ok, diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, line := range map[string]string{
		"F03 a parameter twice":           "for=1.1.1.1;For=2.2.2.2",
		"a quote that swallows the rest":  `for="6.6.6.6, for=203.0.113.9`,
		"an escape at the end":            `for="\`,
		"no value":                        "for=",
		"no name":                         "=x",
		"no equals sign":                  "for",
		"a blank in a name":               "for =x",
		"something behind a quoted value": `for="a"b`,
		"two values":                      "for=a b",
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := forwarded.Parse([]string{line}); ok {
				t.Errorf("read as %+v", got)
			}
		})
	}
}

func TestWalkElements(t *testing.T) {
	proxies := forwarded.Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	tests := map[string]struct{ line, client, host string }{
		"nothing is said":           {"", "10.0.0.1", ""},
		"one proxy":                 {"for=203.0.113.9;host=shop.test", "203.0.113.9", "shop.test"},
		"F09 C251 a client lies":    {"for=10.9.9.9;host=evil.test, for=203.0.113.9;host=shop.test", "203.0.113.9", "shop.test"},
		"two proxies":               {"for=6.6.6.6;host=evil.test, for=203.0.113.9;host=shop.test, for=10.0.0.2;host=inner.test", "203.0.113.9", "shop.test"},
		"F05 unknown":               {"for=6.6.6.6;host=evil.test, for=unknown;host=shop.test, for=10.0.0.2;host=inner.test", "10.0.0.2", "shop.test"},
		"F05 hidden":                {"for=_a;host=shop.test", "10.0.0.1", "shop.test"},
		"IPv6":                      {`for="[2001:db8::1]:1"`, "2001:db8::1", ""},
		"all are proxies":           {"for=10.0.0.3;host=a.test, for=10.0.0.2", "10.0.0.3", "a.test"},
		"more than are looked at":   {"for=203.0.113.9" + strings.Repeat(", for=10.0.0.4", 9), "10.0.0.4", ""},
		"for is optional (F07)":     {"host=shop.test", "10.0.0.1", "shop.test"},
		"for is optional, and last": {"for=6.6.6.6, proto=https", "10.0.0.1", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			elements, ok := forwarded.Parse([]string{test.line})
			client, said := proxies.WalkElements(netip.MustParseAddr("10.0.0.1"), elements, 8)
			if !ok || client.String() != test.client || said.Host != test.host {
				t.Errorf("got %s and host %q", client, said.Host)
			}
		})
	}
}

func TestConversion(t *testing.T) {
	for name, test := range map[string]struct{ lines, back string }{
		"F08 order is kept":        {"192.0.2.1, 192.0.2.2", "for=192.0.2.1, for=192.0.2.2"},
		"F08 quotes and brackets":  {"2001:db8::1", `for="[2001:db8::1]"`},
		"F05 unknown and a hidden": {"unknown, _x", "for=unknown, for=_x"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := forwarded.FromFor([]string{test.lines}); got != test.back {
				t.Errorf("Forwarded: %s", got)
			}
			elements, ok := forwarded.Parse([]string{test.back})
			if got := forwarded.ToFor(elements); !ok || got != test.lines {
				t.Errorf("X-Forwarded-For: %s", got)
			}
		})
	}
	if got := forwarded.FromFor([]string{`evil";for=1.1.1.1, 192.0.2.1:80`, "", "[::1]:1"}); got != `for=unknown, for=192.0.2.1, for="[::1]"` {
		t.Errorf("Forwarded: %s", got)
	}
	if got := forwarded.ToFor([]forwarded.Element{{For: "[2001:db8::1]:1"}, {For: "a, b"}, {}}); got != "2001:db8::1, unknown, unknown" {
		t.Errorf("X-Forwarded-For: %s", got)
	}
	if got := forwarded.Pair("host", `a"\`); got != `host="a\"\\"` {
		t.Errorf("quoted: %s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`for="[2001:db8::1]:1";proto=https, for=_x;host="a\"b"`)
	f.Add(`for=1.1.1.1, for=unknown`)
	f.Fuzz(func(t *testing.T, line string) {
		elements, ok := forwarded.Parse([]string{line})
		if !ok {
			return
		}
		if again, ok := forwarded.Parse([]string{line, "for=1.1.1.1"}); !ok || len(again) != len(elements)+1 {
			t.Fatalf("a further line of %q changes it: %v, %v", line, elements, again)
		}
		if again, ok := forwarded.Parse([]string{line + ", for=1.1.1.1"}); !ok || len(again) != len(elements)+1 || again[len(elements)].For != "1.1.1.1" {
			t.Fatalf("an element behind %q changes it: %v, %v", line, elements, again)
		}
		chain := forwarded.ToFor(elements)
		if back, ok := forwarded.Parse([]string{forwarded.FromFor([]string{chain})}); !ok || len(back) != len(elements) {
			t.Fatalf("%q became %q became %v", line, chain, back)
		}
	})
}
