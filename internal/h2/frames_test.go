package h2

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
)

// some are frames of all sorts, and what a scan has to see of them.
func some(t *testing.T) ([]byte, []frame) {
	t.Helper()
	var b bytes.Buffer
	fr := http2.NewFramer(&b, nil)
	for _, err := range []error{
		fr.WriteSettings(http2.Setting{ID: http2.SettingEnablePush}),
		fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("abc")}),
		fr.WriteContinuation(1, true, nil),
		fr.WriteData(1, false, []byte(strings.Repeat("x", 300))),
		fr.WriteData(1, true, nil),
		fr.WriteRSTStream(1<<31-1, http2.ErrCodeStreamClosed),
		fr.WriteGoAway(1<<31-1, http2.ErrCodeEnhanceYourCalm, []byte("debug")),
		fr.WriteWindowUpdate(3, 1<<31-1),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes(), []frame{
		{length: 6, kind: frameSettings},
		{length: 3, kind: frameHeaders, stream: 1},
		{kind: frameContinuation, stream: 1},
		{length: 300, kind: frameData, stream: 1},
		{kind: frameData, stream: 1},
		{length: 4, kind: frameReset, stream: 1<<31 - 1, code: codeClosed},
		{length: 13, kind: frameGoAway, code: 0xb},
		{length: 4, kind: frameWindowUpdate, stream: 3},
	}
}

func TestFramesInPieces(t *testing.T) {
	wire, want := some(t)
	wire = append([]byte(http2.ClientPreface), wire...)
	for size := 1; size <= len(wire); size++ {
		f := frames{preface: prefaceSize}
		var got []frame
		for rest := wire; len(rest) > 0; {
			n := min(size, len(rest))
			f.scan(rest[:n], func(x frame) { got = append(got, x) })
			rest = rest[n:]
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(frame{})); diff != "" || !f.whole() {
			t.Fatalf("in pieces of %d, whole %v: %s", size, f.whole(), diff)
		}
	}
}

func TestFramesCutShort(t *testing.T) {
	wire, _ := some(t)
	wire = wire[:15+12+9+100] // within the data
	for _, n := range []int{1, 8, 9, 14, 16, len(wire)} {
		var f frames
		f.scan(wire[:n], func(frame) {})
		if f.whole() {
			t.Errorf("a frame is whole after %d bytes", n)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x08"), 3)
	f.Add([]byte("\x00\x00\x01\x03\x00\x00\x00\x00\x01\x00\x00\x00\x00"), 1)
	f.Fuzz(func(t *testing.T, wire []byte, size int) {
		read := func(size int) (all []frame) {
			var f frames
			for rest := wire; len(rest) > 0; {
				n := min(size, len(rest))
				f.scan(rest[:n], func(x frame) { all = append(all, x) })
				rest = rest[n:]
			}
			return all
		}
		if diff := cmp.Diff(read(len(wire)+1), read(max(1, size)), cmp.AllowUnexported(frame{})); diff != "" {
			t.Error(diff)
		}
	})
}
