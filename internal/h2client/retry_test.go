package h2client_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/h2client"
)

// What a server has not begun to work on may be sent again, whatever the method; what it
// may have worked on may not.
func TestWhatMayBeSentAgain(t *testing.T) {
	goAway := func(last uint32, code http2.ErrCode) func(*peer, uint32) {
		return func(p *peer, _ uint32) { _ = p.WriteGoAway(last, code, nil) }
	}
	reset := func(code http2.ErrCode) func(*peer, uint32) {
		return func(p *peer, id uint32) { _ = p.WriteRSTStream(id, code) }
	}
	hangUp := func(p *peer, _ uint32) { p.conn.Close() }
	for _, tt := range []struct {
		name, method string
		first        func(p *peer, id uint32) // what becomes of the first request
		warm         bool                     // the connection has served before
		unsent       bool                     // the error says that nothing was worked on
		again        bool                     // the transport itself sends it once more
	}{
		{name: "H03 GOAWAY that leaves a POST out", method: "POST", first: goAway(0, http2.ErrCodeNo), again: true},
		{name: "H03 GOAWAY that leaves a later POST out", method: "POST", first: goAway(1, http2.ErrCodeNo), warm: true, again: true},
		{name: "H03 GOAWAY with an error that leaves a POST out", method: "POST", first: goAway(0, http2.ErrCodeEnhanceYourCalm), unsent: true},
		{name: "H03 GOAWAY that covers a POST, then the end", method: "POST", first: func(p *peer, id uint32) { goAway(id, http2.ErrCodeNo)(p, id); hangUp(p, id) }},
		{name: "H19 REFUSED_STREAM, POST", method: "POST", first: reset(http2.ErrCodeRefusedStream), unsent: true},
		{name: "H19 REFUSED_STREAM, GET", method: "GET", first: reset(http2.ErrCodeRefusedStream), unsent: true},
		{name: "H19 INTERNAL_ERROR, POST", method: "POST", first: reset(http2.ErrCodeInternal)},
		{name: "H19 CANCEL, GET", method: "GET", first: reset(http2.ErrCodeCancel)},
		{name: "H19 connection lost under a POST", method: "POST", first: hangUp, warm: true},
		{name: "H19 new connection lost under a GET", method: "GET", first: hangUp},
		{name: "H19 used connection lost under a GET", method: "GET", first: hangUp, warm: true, again: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var done atomic.Bool
			f := start(t, none(), func(p *peer) {
				for n := 0; ; n++ {
					r, ok := p.request()
					if !ok {
						return
					}
					if done.Load() || tt.warm && n == 0 {
						p.answer(r.StreamID, true, ":status", "200")
						continue
					}
					done.Store(true)
					tt.first(p, r.StreamID)
				}
			})
			transport := client(t, h2client.Settings{})
			body := map[string]string{"POST": "body"}[tt.method]
			want := int64(1)
			if tt.warm {
				want++
				if _, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, "")); err != nil {
					t.Fatal(err)
				}
			}
			status, _, err := send(transport, request(t.Context(), t, tt.method, f.addr, body))
			if tt.again {
				want++
			}
			if (err == nil) != tt.again || nothingSent(err) != tt.unsent || tt.again && status != http.StatusOK {
				t.Errorf("%d, %v; nothing sent: %v", status, err, nothingSent(err))
			}
			if got := f.streams.Load(); got != want {
				t.Errorf("the server got %d requests, want %d", got, want)
			}
		})
	}
}

// A body that has been read is sent again only if it can be made again.
func TestBodyOfWhatIsSentAgain(t *testing.T) {
	for name, kept := range map[string]bool{"H03 kept body": true, "H03 body that is not kept": false} {
		t.Run(name, func(t *testing.T) {
			f := start(t, none(), func(p *peer) {
				r, ok := p.request()
				if !ok {
					return
				}
				p.next(func(f http2.Frame) bool { return f.Header().Type == http2.FrameData })
				if p.number == 1 {
					_ = p.WriteGoAway(0, http2.ErrCodeNo, nil)
				} else {
					p.answer(r.StreamID, true, ":status", "200")
				}
				p.drain()
			})
			r := request(t.Context(), t, http.MethodPost, f.addr, "some body")
			r.ContentLength = -1
			if !kept {
				r.GetBody = nil
			}
			_, _, err := send(client(t, h2client.Settings{}), r)
			if kept != (err == nil) || nothingSent(err) == kept {
				t.Errorf("%v; nothing sent: %v", err, nothingSent(err))
			}
		})
	}
}

// Connections that cannot be used are no fault of the request.
func TestNoHTTP2(t *testing.T) {
	quick := h2client.Settings{TransportSettings: timeouts(100*time.Millisecond, patience, patience)}
	bad := func(id http2.SettingID, value uint32) *fake {
		return start(t, []http2.Setting{{ID: id, Val: value}}, (*peer).drain)
	}
	for name, f := range map[string]*fake{
		"H04 MAX_FRAME_SIZE of 0":               bad(http2.SettingMaxFrameSize, 0),
		"H04 MAX_FRAME_SIZE of 16383":           bad(http2.SettingMaxFrameSize, 16383),
		"H04 MAX_FRAME_SIZE of 2^24":            bad(http2.SettingMaxFrameSize, 1<<24),
		"H04 INITIAL_WINDOW_SIZE of 2^31":       bad(http2.SettingInitialWindowSize, 1<<31),
		"H04 ENABLE_PUSH of 2":                  bad(http2.SettingEnablePush, 2),
		"C233 a server that never greets":       start(t, nil, (*peer).drain),
		"a server that begins with a PING":      start(t, nil, func(p *peer) { _ = p.WritePing(false, [8]byte{}); p.drain() }),
		"a server that speaks HTTP/1.1":         start(t, nil, func(p *peer) { _, _ = p.conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }),
		"a server that hangs up":                start(t, nil, func(*peer) {}),
		"C233 WINDOW_UPDATE of 0 as a greeting": start(t, nil, func(p *peer) { _ = p.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 4)); p.drain() }),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := send(client(t, quick), request(t.Context(), t, http.MethodPost, f.addr, "x"))
			if !nothingSent(err) {
				t.Errorf("%v does not say that nothing was sent", err)
			}
			if n := f.streams.Load(); n > 0 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

func TestSettingsAreAcknowledged(t *testing.T) {
	acked := make(chan bool, 1)
	f := start(t, []http2.Setting{{ID: http2.SettingMaxFrameSize, Val: 1 << 14}}, func(p *peer) {
		p.next(func(f http2.Frame) bool {
			s, ok := f.(*http2.SettingsFrame)
			return ok && s.IsAck()
		})
		acked <- true
		if r, ok := p.request(); ok {
			p.answer(r.StreamID, true, ":status", "204")
		}
		p.drain()
	})
	status, _, err := send(client(t, h2client.Settings{}), request(t.Context(), t, http.MethodGet, f.addr, ""))
	if err != nil || status != http.StatusNoContent {
		t.Errorf("H04: %d, %v", status, err)
	}
	<-acked
}
