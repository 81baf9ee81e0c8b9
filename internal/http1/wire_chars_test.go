package http1

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// Every byte, at every place of a word, after bytes that are one below a
// control character or one above.
func TestNextControl(t *testing.T) {
	for _, around := range []byte{' ', '~', 0x80, 0xff, 'a'} {
		for c := range 256 {
			for at := range 20 {
				b := bytes.Repeat([]byte{around}, 21)
				b[at] = byte(c)
				want := at
				if c >= ' ' && c != 0x7f {
					want = len(b)
				}
				for from := range at + 1 {
					if got := nextControl(b, from); got != want {
						t.Fatalf("%q from %d: %d, want %d", b, from, got, want)
					}
				}
			}
		}
	}
	if b := []byte("\x00ab\x7fc\x1fde\rfg"); nextControl(b, 1) != 3 || nextControl(b, 4) != 5 || nextControl(b, 6) != 8 || nextControl(b, 9) != len(b) {
		t.Error("control characters after others are missed")
	}
}

func TestTokens(t *testing.T) {
	const token = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for c := range 256 {
		if got, want := isToken(byte(c)), strings.IndexByte(token, byte(c)) >= 0; got != want {
			t.Errorf("%q is a token character: %v", byte(c), got)
		}
	}
}

func TestCanonicalNames(t *testing.T) {
	const small, large = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for i := range len(small) {
		for _, name := range []string{small[i:], large[i:], small[i:] + "-" + small[i:], large[i:] + "-" + large[i:], "x_" + small[i:], "-" + small[i:] + "--" + large[:i]} {
			b := []byte(name + ":")
			if n := canonicalise(b); n != len(name) || string(b[:n]) != http.CanonicalHeaderKey(name) {
				t.Errorf("%q became %q", name, b[:max(n, 0)])
			}
		}
	}
}

func TestTargetCharacters(t *testing.T) {
	for c := range 256 {
		want := c > ' ' && c < 0x7f && c != '#'
		if got := isTarget([]byte{'/', byte(c)}); got != want {
			t.Errorf("%q may stand in a target: %v", byte(c), got)
		}
	}
}

// http M37, S24.
func TestLargestNumbers(t *testing.T) {
	lengths := map[string]int64{"9223372036854775807": 1<<63 - 1, "0009223372036854775807": 1<<63 - 1, "5000000000": 5_000_000_000, "0": 0}
	for text, want := range lengths {
		if got, ok := parseLength(text); got != want || !ok {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"9223372036854775808", "9223372036854775810", "18446744073709551615", "18446744073709551616", "92233720368547758070"} {
		if got, ok := parseLength(text); ok {
			t.Errorf("%s: %d", text, got)
		}
	}
	if got, err := parseChunkHeader([]byte("7FFFffffFFFFffff;a")); got != 1<<63-1 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}
