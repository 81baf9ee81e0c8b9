package http1

import (
	"strings"
	"testing"
)

func TestLimitsAreExact(t *testing.T) {
	head := func(target, fields int) string {
		line := "GET /" + strings.Repeat("a", target-len("GET / HTTP/1.1")) + " HTTP/1.1"
		return line + "\r\n" + hostLine + "\r\n" + strings.Repeat("a: b\r\n", fields-1) + "\r\n"
	}
	whole := len(head(100, 3)) - len("\r\n\r\n") // to the end of the last field
	tests := []struct {
		name   string
		text   string
		limits Limits
		status int
	}{
		{"http M09 request line", head(100, 3), Limits{RequestLine: 100}, 0},
		{"http M09 one byte more", head(100, 3), Limits{RequestLine: 99}, 414},
		{"http M09 8000 octets", head(8000, 3), Limits{}, 0},
		{"http S45, C230 fields", head(100, 3), Limits{Headers: 3}, 0},
		{"http S45, C230 one field more", head(100, 3), Limits{Headers: 2}, 431},
		{"http S45, C230 bytes", head(100, 3), Limits{HeaderBytes: whole + 2}, 0},
		{"http S45, C230 some bytes more", head(100, 3), Limits{HeaderBytes: whole - 1}, 431},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{0, 1, 3} {
				_, err := receiveRequest(t, tt.text, piece, tt.limits)
				switch {
				case tt.status != 0:
					wantRefused(t, err, tt.status)
				case err != nil:
					t.Fatal(err)
				}
			}
		})
	}
}

// C230: what is refused for its size has not been collected first.
func TestLargeHeadsAreNotHeld(t *testing.T) {
	l := Limits{}.withDefaults()
	for _, flood := range []string{"X-A: " + strings.Repeat("x", 2<<20), strings.Repeat("x", 1<<20) + ": 1"} {
		r := wireReader(wireHead(getLine, hostLine, flood), 0)
		var h head
		h.reset(requestHead)
		wantRefused(t, h.read(r, &l), 431)
		if held := len(r.buf.bytes); held > 4*l.HeaderBytes {
			t.Errorf("%d bytes held for a limit of %d", held, l.HeaderBytes)
		}
	}
}
