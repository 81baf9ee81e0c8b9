package http1

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const chunkedPost = postLine + "\r\n" + hostLine + "\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestChunkedRefused(t *testing.T) {
	tests := []struct {
		name, text string
		status     int
	}{
		{"http M42, C089 LF after the size", "1\nZ\r\n0\r\n\r\n", 400},
		{"http M42, C089 LF after the data", "1\r\nZ\n0\r\n\r\n", 400},
		{"http M42, C089 CR alone after the data", "1\r\nZ\r0\r\n\r\n", 400},
		{"http M42, C089 LF within an extension", "1;a\nb\r\nZ\r\n0\r\n\r\n", 400},
		{"http M42, C089 LF at the end", "0\n\n", 400},
		{"http M42, C089 LF as the last line end", "0\r\n\n", 400},
		{"http M42, C089 CR alone after the size", "1\rZ\r\n0\r\n\r\n", 400},
		{"http M42 nothing after the data", "1\r\nZ0\r\n\r\n", 400},
		{"http M42 too much data", "1\r\nZZ\r\n0\r\n\r\n", 400},
		{"http M37 no size", "\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 extension without size", ";a\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 beyond 64 bits", "10000000000000001\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 beyond 63 bits", "8000000000000000\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 seventeen digits", "00000000000000001\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 sign", "+1\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 negative", "-1\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 prefix", "0x1\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 space before the size", " 1\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 space after the size", "1 \r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 space before an extension", "1 ;a\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 underscore", "1_0\r\nZ\r\n0\r\n\r\n", 400},
		{"http M37 junk", "1g\r\nZ\r\n0\r\n\r\n", 400},
		{"http M38 endless extension", "1;" + strings.Repeat("a", 1<<20), 413},
		{"http M38 ever more extensions", strings.Repeat("1;"+strings.Repeat("a", 1000)+"\r\nZ\r\n", 100), 413},
		{"NUL in an extension", "1;a\x00\r\nZ\r\n0\r\n\r\n", 400},
		{"fold in the trailer section", "0\r\nX: 1\r\n 2\r\n\r\n", 400},
		{"space before a colon in the trailer section", "0\r\nX : 1\r\n\r\n", 400},
		{"no colon in the trailer section", "0\r\nX\r\n\r\n", 400},
		{"http S04 NUL in the trailer section", "0\r\nX: a\x00\r\n\r\n", 400},
		{"LF in the trailer section", "0\r\nX: a\n\r\n", 400},
		{"C230 1 MiB of trailers", "0\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", 431},
		{"C230 ever more trailers", "0\r\n" + strings.Repeat("X: 1\r\n", 101) + "\r\n", 431},
		{"C230 trailers of 1 MiB in all", "0\r\n" + strings.Repeat("X: "+strings.Repeat("a", 11000)+"\r\n", 95) + "\r\n", 431},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{0, 1, 3} {
				if len(tt.text) > 100_000 && piece != 0 {
					continue
				}
				_, err := receiveRequest(t, chunkedPost+tt.text, piece, Limits{})
				wantRefused(t, err, tt.status)
			}
		})
	}
}

func TestChunkedAccepted(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1<<10)
	tests := []struct {
		name, text, body string
		trailer          http.Header
	}{
		{"http M37 hexadecimal in both cases", "0a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", nil},
		{"http M37 sixteen digits", "0000000000000001\r\nZ\r\n0\r\n\r\n", "Z", nil},
		{"several zeros", "000\r\n\r\n", "", nil},
		{"http M38 extensions", "1;a=b;c=\"d e\"\r\nZ\r\n0;\tx\r\n\r\n", "Z", nil},
		{"http M38 an extension on each of many chunks", strings.Repeat("400;a=0123456789\r\n"+long[:1024]+"\r\n", 1000) + "0\r\n\r\n", strings.Repeat(long[:1024], 1000), nil},
		{"http M40 a long chunk", "4000\r\n" + long + "\r\n0\r\n\r\n", long, nil},
		{"http M39 trailers", "1\r\nZ\r\n0\r\nx-a: 2\r\nX-A:1\r\nX-B: \r\n\r\n", "Z", http.Header{"X-A": {"2", "1"}, "X-B": {""}}},
		{"as many trailers as allowed", "0\r\n" + strings.Repeat("X: 1\r\n", 100) + "\r\n", "", http.Header{"X": slices.Repeat([]string{"1"}, 100)}},
		{"http M39 trailers that mean framing", "0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\nHost: h\r\nX-A: 1\r\n\r\n", "", http.Header{"X-A": {"1"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{0, 1, 3, 17, 4096} {
				m, err := receiveRequest(t, chunkedPost+tt.text+"next", piece, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if m.body != tt.body || m.rest != "next" {
					t.Fatalf("%d bytes %.80q, then %q", len(m.body), m.body, m.rest)
				}
				if diff := cmp.Diff(tt.trailer, m.trailer); diff != "" {
					t.Errorf("trailer, -want +got\n%s", diff)
				}
			}
		})
	}
}

func TestAnnouncedTrailers(t *testing.T) {
	m, err := receiveRequest(t, wireHead(postLine, hostLine, "Trailer: x-a, ,X-B", "Trailer: x c, Host", "Transfer-Encoding: chunked")+"0\r\nX-A: 1\r\n\r\n", 0, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(http.Header{"X-A": {"1"}, "X-B": nil}, m.trailer); diff != "" {
		t.Errorf("trailer, -want +got\n%s", diff)
	}
	if len(m.header) != 0 {
		t.Errorf("header %v", m.header)
	}
}

// http M33, M43: what is cut short does not pass for complete.
func TestTruncated(t *testing.T) {
	whole := []string{
		wireHead(postLine, hostLine, "Content-Length: 5") + "abcde",
		chunkedPost + "3\r\nabc\r\n2;x\r\nde\r\n0\r\nX-A: 1\r\n\r\n",
	}
	for _, text := range whole {
		for n := 1; n < len(text); n++ {
			_, err := receiveRequest(t, text[:n], 0, Limits{})
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%q: %v", text[:n], err)
			}
		}
	}
	if _, err := receiveRequest(t, "", 0, Limits{}); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("no request at all: %v", err)
	}
}

func TestReadAfterTheEnd(t *testing.T) {
	l := Limits{}.withDefaults()
	for _, f := range []framing{noBody, lengthBody, chunkedBody, untilClose} {
		r := wireReader(map[framing]string{noBody: "rest", lengthBody: "abcrest", chunkedBody: "3\r\nabc\r\n0\r\n\r\nrest", untilClose: "abc"}[f], 0)
		var b body
		b.reset(r, f, 3, nil, &l)
		if _, err := io.Copy(io.Discard, &b); err != nil {
			t.Fatal(err)
		}
		if n, err := b.Read(make([]byte, 8)); n != 0 || !errors.Is(err, io.EOF) || !b.complete() {
			t.Errorf("framing %d: %d, %v after the end", f, n, err)
		}
		if got := r.rest(t); f != untilClose && got != "rest" {
			t.Errorf("framing %d: then %q", f, got)
		}
	}
}

// Data that has arrived in many chunks leaves in one piece, and its end with it.
func TestChunksAreGathered(t *testing.T) {
	l := Limits{}.withDefaults()
	var b body
	b.reset(wireReader("1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n", 0), chunkedBody, -1, nil, &l)
	p := make([]byte, 100)
	if n, err := b.Read(p); string(p[:n]) != "abcdef" || !errors.Is(err, io.EOF) {
		t.Errorf("read %q, %v", p[:n], err)
	}
	b.reset(wireReader("3\r\nabc\r\n3\r\nde", 0), chunkedBody, -1, nil, &l)
	if n, err := b.Read(p); string(p[:n]) != "abcde" || err != nil {
		t.Errorf("read %q, %v", p[:n], err)
	}
}

func TestLargeReadsBypassTheBuffer(t *testing.T) {
	l := Limits{}.withDefaults()
	const size = 1 << 20
	r := wireReader(strings.Repeat("x", size), 0)
	var b body
	b.reset(r, lengthBody, size, nil, &l)
	if n, err := io.ReadFull(&b, make([]byte, size)); n != size || err != nil {
		t.Fatal(n, err)
	}
	if reads := r.conn.(*wireConn).reads; reads != 1 || r.buf != nil {
		t.Errorf("%d reads, buffer %v", reads, r.buf)
	}
}

func TestRemaining(t *testing.T) {
	l := Limits{}.withDefaults()
	r := wireReader("0123456789", 4)
	var b body
	b.reset(r, lengthBody, 10, nil, &l)
	if _, err := io.ReadFull(&b, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	if n, ok := b.remaining(); n != 7 || !ok {
		t.Errorf("%d, %v remain", n, ok)
	}
	if b.discardBuffered() {
		t.Error("complete with 6 bytes to come")
	}
	if n, ok := b.remaining(); n != 6 || !ok {
		t.Errorf("%d, %v remain", n, ok)
	}
	b.advance(6)
	if n, ok := b.remaining(); ok || !b.complete() {
		t.Errorf("%d, %v remain", n, ok)
	}
}

func TestDiscardBuffered(t *testing.T) {
	tests := []struct {
		name, text string
		framing    framing
		want       bool
		rest       string
	}{
		{"all of a known length", "abcdeGET", lengthBody, true, "GET"},
		{"some of a known length", "abc", lengthBody, false, ""},
		{"all chunks", "2\r\nab\r\n1;x\r\nc\r\n0\r\n\r\nGET", chunkedBody, true, "GET"},
		{"chunks so far", "2\r\nab\r\n1", chunkedBody, false, "1"},
		{"within a chunk", "5\r\nab", chunkedBody, false, ""},
		{"a broken chunk", "2\r\nabc", chunkedBody, false, "c"},
		{"until the end", "abc", untilClose, false, "abc"},
		{"none", "GET", noBody, true, "GET"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Limits{}.withDefaults()
			r := wireReader(tt.text, 0)
			if err := r.fill(); err != nil {
				t.Fatal(err)
			}
			var b body
			b.reset(r, tt.framing, 5, nil, &l)
			if got := b.discardBuffered(); got != tt.want {
				t.Errorf("complete is %v", got)
			}
			if got := r.rest(t); got != tt.rest {
				t.Errorf("then %q, want %q", got, tt.rest)
			}
		})
	}
}
