package proxyproto_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gozer-gateway/gozer/internal/proxyproto"
)

const signature = "\r\n\r\n\x00\r\nQUIT\n"

// v2 makes a head of version 2.
func v2(command, family byte, rest string) string {
	head := append([]byte(signature), command, family, 0, 0)
	binary.BigEndian.PutUint16(head[14:], uint16(len(rest)))
	return string(head) + rest
}

const (
	v4Addresses = "\xcb\x00\x71\x09" + "\x0a\x00\x00\x01" + "\x1f\x90" + "\x00\x50"
	v6Addresses = "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x1f\x90" + "\x01\xbb"
	mapped = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xcb\x00\x71\x09" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x0a\x00\x00\x01" + "\x1f\x90" + "\x00\x50"
)

// withChecksum is a head with a CRC32c vector, and then another one.
func withChecksum(change func([]byte)) string {
	head := []byte(v2(0x21, 0x11, v4Addresses+"\x03\x00\x04\x00\x00\x00\x00"+"\x04\x00\x02xx"))
	at := len(signature) + 4 + len(v4Addresses) + 3
	binary.BigEndian.PutUint32(head[at:], crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)))
	change(head)
	return string(head)
}

func TestRead(t *testing.T) {
	const direct = "invalid AddrPort"
	tests := map[string]struct {
		head                string
		source, destination string
	}{
		"v1 IPv4":                       {"PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n", "203.0.113.9:8080", "10.0.0.1:80"},
		"v1 the shortest of IPv4":       {"PROXY TCP4 1.1.1.1 1.1.1.2 1 2\r\n", "1.1.1.1:1", "1.1.1.2:2"},
		"v1 the longest of IPv4":        {"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255:65535", "255.255.255.255:65535"},
		"v1 IPv6":                       {"PROXY TCP6 2001:db8::1 ::1 8080 443\r\n", "[2001:db8::1]:8080", "[::1]:443"},
		"v1 the shortest of IPv6":       {"PROXY TCP6 :: ::1 1 2\r\n", "[::]:1", "[::1]:2"},
		"v1 IPv4 in IPv6":               {"PROXY TCP6 ::ffff:203.0.113.9 ::ffff:10.0.0.1 8080 80\r\n", "203.0.113.9:8080", "10.0.0.1:80"},
		"v1 UNKNOWN":                    {"PROXY UNKNOWN\r\n", direct, direct},
		"v1 UNKNOWN with addresses":     {"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", direct, direct},
		"v1 UNKNOWN as long as allowed": {"PROXY UNKNOWN " + strings.Repeat("x", 91) + "\r\n", direct, direct},
		"v2 IPv4":                       {v2(0x21, 0x11, v4Addresses), "203.0.113.9:8080", "10.0.0.1:80"},
		"v2 IPv6":                       {v2(0x21, 0x21, v6Addresses), "[2001:db8::1]:8080", "[::1]:443"},
		"v2 IPv4 in IPv6":               {v2(0x21, 0x21, mapped), "203.0.113.9:8080", "10.0.0.1:80"},
		"v2 vectors":                    {v2(0x21, 0x11, v4Addresses+"\x01\x00\x02h2"+"\x04\x00\x00"), "203.0.113.9:8080", "10.0.0.1:80"},
		"v2 checksum":                   {withChecksum(func([]byte) {}), "203.0.113.9:8080", "10.0.0.1:80"},
		"v2 LOCAL":                      {v2(0x20, 0x00, ""), direct, direct},
		"v2 LOCAL with addresses":       {v2(0x20, 0x11, v4Addresses), direct, direct},
		"v2 LOCAL with anything":        {v2(0x20, 0xff, "what\x00ever"), direct, direct},
		"v2 unspecified":                {v2(0x21, 0x00, "\x04\x00\x01x"), direct, direct},
		"v2 unspecified with addresses": {v2(0x21, 0x00, "\x01\x02\x03\x04\x05\x06\x07\x08\x00\x01\x00\x02"), direct, direct},
		"v2 Unix":                       {v2(0x21, 0x31, strings.Repeat("\x00", 216)), direct, direct},
		"v2 as long as allowed":         {v2(0x21, 0x11, v4Addresses+"\x04\x0f\xf1"+strings.Repeat("x", 4096-15)), "203.0.113.9:8080", "10.0.0.1:80"},
	}
	const behind = "GET / HTTP/1.1\r\n"
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := strings.NewReader(test.head + behind)
			h, err := proxyproto.Read(iotest.HalfReader(r))
			if err != nil || h.Source.String() != test.source || h.Destination.String() != test.destination {
				t.Errorf("got %+v, %v; want %s, %s", h, err, test.source, test.destination)
			}
			if left, _ := io.ReadAll(r); string(left) != behind {
				t.Errorf("left of the stream is %q", left)
			}
			for cut := range test.head {
				if _, err := proxyproto.Read(strings.NewReader(test.head[:cut])); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("cut off after %d bytes: %v", cut, err)
				}
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	tests := map[string]string{
		"HTTP":                       "GET / HTTP/1.1\r\nHost: g.test\r\n\r\n",
		"TLS":                        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\x00",
		"lower case":                 "proxy TCP4 203.0.113.9 10.0.0.1 8080 80\r\n",
		"v1 no family":               "PROXY \r\nGET / HTTP/1.1\r\n\r\n",
		"v1 another family":          "PROXY UDP4 203.0.113.9 10.0.0.1 8080 80\r\n",
		"v1 IPv6 under TCP4":         "PROXY TCP4 2001:db8::1 ::1 8080 80\r\n",
		"v1 IPv4 under TCP6":         "PROXY TCP6 203.0.113.9 10.0.0.1 8080 80\r\n",
		"v1 a zone":                  "PROXY TCP6 fe80::1%eth0 ::1 8080 80\r\n",
		"v1 an address too many":     "PROXY TCP4 203.0.113.9 10.0.0.1 10.0.0.2 8080 80\r\n",
		"v1 a port too few":          "PROXY TCP4 203.0.113.9 100.100.100.1 8080\r\n",
		"v1 two blanks":              "PROXY TCP4  203.0.113.9 10.0.0.1 8080 80\r\n",
		"v1 a port too large":        "PROXY TCP4 203.0.113.9 10.0.0.1 65536 80\r\n",
		"v1 a sign":                  "PROXY TCP4 203.0.113.9 10.0.0.1 +8080 80\r\n",
		"v1 leading zeros of a port": "PROXY TCP4 203.0.113.9 10.0.0.1 08080 80\r\n",
		"v1 leading zeros":           "PROXY TCP4 203.000.113.9 10.0.0.1 8080 80\r\n",
		"v1 a name":                  "PROXY TCP4 evil.example.test 10.0.0.1 8080 80\r\n",
		"v1 a bare line feed":        "PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\nGET / HTTP/1.1\r\n",
		"v1 a line feed within":      "PROXY UNKNOWN a\nGET / HTTP/1.1\r\n",
		"v1 no end":                  "PROXY UNKNOWN " + strings.Repeat("x", 200) + "\r\n",
		"v1 one byte too many":       "PROXY UNKNOWN " + strings.Repeat("x", 92) + "\r\n",
		"v2 version 1":               v2(0x11, 0x11, v4Addresses),
		"v2 another command":         v2(0x22, 0x11, v4Addresses),
		"v2 a datagram":              v2(0x21, 0x12, v4Addresses),
		"v2 another family":          v2(0x21, 0x41, v4Addresses),
		"v2 no room for addresses":   v2(0x21, 0x11, v4Addresses[1:]),
		"v2 IPv4 under IPv6":         v2(0x21, 0x21, v4Addresses),
		"v2 a vector without length": v2(0x21, 0x11, v4Addresses+"\x04\x00"),
		"v2 a vector cut off":        v2(0x21, 0x11, v4Addresses+"\x04\x00\x03xx"),
		"v2 too long":                v2(0x21, 0x11, v4Addresses+"\x04\x0f\xf2"+strings.Repeat("x", 4096-14)),
		"v2 changed address":         withChecksum(func(h []byte) { h[16]++ }),
		"v2 changed vector":          withChecksum(func(h []byte) { h[len(h)-1]++ }),
		"v2 changed checksum":        withChecksum(func(h []byte) { h[len(h)-6]++ }),
		"v2 checksum of other size":  v2(0x21, 0x11, v4Addresses+"\x03\x00\x02xx"),
	}
	for name, head := range tests {
		t.Run(name, func(t *testing.T) {
			if h, err := proxyproto.Read(strings.NewReader(head)); !errors.Is(err, proxyproto.ErrMalformed) {
				t.Errorf("got %+v, %v", h, err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\nGET"))
	f.Add([]byte("PROXY TCP6 2001:db8::1 ::1 8080 443\r\n"))
	f.Add([]byte("PROXY UNKNOWN\r\n"))
	f.Add([]byte(v2(0x21, 0x11, v4Addresses+"\x04\x00\x01x")))
	f.Add([]byte(v2(0x21, 0x21, v6Addresses)))
	f.Add([]byte(withChecksum(func([]byte) {})))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := strings.NewReader(string(data))
		h, err := proxyproto.Read(r)
		read := data[:len(data)-r.Len()]
		if len(read) > 16+4096 {
			t.Fatalf("%d bytes read", len(read))
		}
		if err != nil {
			if h != (proxyproto.Header{}) {
				t.Fatalf("%+v with %v", h, err)
			}
			return
		}
		if h.Version == 1 && (len(read) > 107 || !strings.HasSuffix(string(read), "\r\n") || strings.Count(string(read), "\n") != 1) {
			t.Fatalf("version 1 of %q", read)
		}
		for _, a := range []netip.AddrPort{h.Source, h.Destination} {
			if a.IsValid() && (a.Addr().Is4In6() || a.Addr().Zone() != "") {
				t.Fatalf("%s is not plain", a)
			}
		}
		again, err := proxyproto.Read(strings.NewReader(string(read)))
		if err != nil || again != h {
			t.Fatalf("%q alone gives %+v, %v instead of %+v", read, again, err, h)
		}
	})
}
