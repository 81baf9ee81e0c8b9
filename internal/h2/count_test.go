package h2_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/h2"
)

// What ends before its time is counted once, as what it is; an orderly end is not.
func TestCount(t *testing.T) {
	for name, tt := range map[string]struct {
		client func(fr *http2.Framer)
		want   map[h2.End]int64
	}{
		"in order": {func(fr *http2.Framer) { open(t, fr, "/ends") }, map[h2.End]int64{}},
		"resets": {
			func(fr *http2.Framer) {
				open(t, fr, "/")
				for range 3 {
					must(t, fr.WriteRSTStream(1, http2.ErrCodeCancel))
				}
			},
			map[h2.End]int64{{Reset: true, ByClient: true, Reason: "cancel"}: 3, {Reason: "resets"}: 1},
		},
		"control frames": {
			func(fr *http2.Framer) {
				for range 5 {
					must(t, fr.WritePing(false, [8]byte{}))
				}
			},
			map[h2.End]int64{{Reason: "control_frames"}: 1},
		},
		"continuations": {
			func(fr *http2.Framer) {
				must(t, fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1}))
				for range 3 {
					must(t, fr.WriteContinuation(1, false, nil))
				}
			},
			map[h2.End]int64{{Reason: "continuations"}: 1},
		},
		"a frame out of order": {
			func(fr *http2.Framer) { must(t, fr.WriteContinuation(1, true, nil)) },
			map[h2.End]int64{{Reason: "protocol_error"}: 1},
		},
		"an unknown code": {
			func(fr *http2.Framer) { open(t, fr, "/"); must(t, fr.WriteRSTStream(1, 1<<20)) },
			map[h2.End]int64{{Reset: true, ByClient: true, Reason: "other"}: 1},
		},
		"a window of nothing": {
			func(fr *http2.Framer) { open(t, fr, "/"); must(t, fr.WriteWindowUpdate(1, 0)) },
			map[h2.End]int64{{Reset: true, Reason: "protocol_error"}: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var count h2.Count
			answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/ends" {
					held(w, r)
				}
			})
			s := serve(t, h2.Settings{Count: &count, Resets: 2, Control: 4, Continuations: 2, Handler: answer})
			c, fr := s.dial(t)
			tt.client(fr)
			eventually(t, "everything is counted", func() bool { return cmp.Equal(count.Ends(), tt.want) })
			_ = c.(*net.TCPConn).CloseWrite() // it may be gone
			_, _ = io.Copy(io.Discard, c)
			if diff := cmp.Diff(tt.want, count.Ends()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
