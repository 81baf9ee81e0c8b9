package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// withH2 switches HTTP/2 on.
const withH2 = "server.http2.enabled: true\n"

// h2client speaks HTTP/2 frame by frame, right or wrong.
type h2client struct {
	*http2.Framer
	tb    testing.TB
	conn  net.Conn
	block bytes.Buffer
	hpack *hpack.Encoder
	next  uint32
	saw   map[http2.SettingID]uint32 // what the server has announced
	away  []http2.ErrCode            // what its GOAWAYs have said
}

// dialH2 opens an HTTP/2 connection by prior knowledge and has exchanged the settings when it returns.
func (g *gateway) dialH2(settings ...http2.Setting) *h2client {
	g.tb.Helper()
	c := dial(g.tb, g.Proxy)
	write(g.tb, c, http2.ClientPreface)
	return newH2(g.tb, c, settings...)
}

// newH2 goes on behind the preface.
func newH2(tb testing.TB, c net.Conn, settings ...http2.Setting) *h2client {
	tb.Helper()
	h := &h2client{Framer: http2.NewFramer(c, c), tb: tb, conn: c, next: 1, saw: map[http2.SettingID]uint32{}}
	h.AllowIllegalWrites = true
	h.hpack = hpack.NewEncoder(&h.block)
	h.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	h.SetMaxReadFrameSize(1 << 20)
	h.must(h.WriteSettings(settings...))
	for acked := false; !acked; {
		f, err := h.ReadFrame()
		if err != nil {
			tb.Fatalf("no settings: %v", err)
		}
		if s, ok := f.(*http2.SettingsFrame); ok {
			acked = s.IsAck()
			_ = s.ForeachSetting(func(s http2.Setting) error { h.saw[s.ID] = s.Val; return nil })
			if !acked {
				h.must(h.WriteSettingsAck())
			}
		}
	}
	return h
}

func (h *h2client) must(err error) {
	h.tb.Helper()
	if err != nil {
		h.tb.Fatal(err)
	}
}

// encode makes a header block of "name: value" lines, as they stand.
func (h *h2client) encode(fields ...string) []byte {
	h.block.Reset()
	for _, f := range fields {
		i := strings.Index(f[1:], ": ") + 1
		_ = h.hpack.WriteField(hpack.HeaderField{Name: f[:i], Value: f[i+2:]}) // writes to memory
	}
	return h.block.Bytes()
}

// get are the fields of a GET, and more.
func get2(path string, more ...string) []string {
	return append([]string{":method: GET", ":scheme: http", ":authority: gateway.test", ":path: " + path}, more...)
}

func post2(path string, more ...string) []string {
	return append([]string{":method: POST", ":scheme: http", ":authority: gateway.test", ":path: " + path}, more...)
}

// open sends HEADERS and returns the stream.
func (h *h2client) open(end bool, fields ...string) uint32 {
	h.tb.Helper()
	id := h.next
	h.next += 2
	h.headers(id, end, fields...)
	return id
}

func (h *h2client) headers(id uint32, end bool, fields ...string) {
	h.tb.Helper()
	h.must(h.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: h.encode(fields...), EndStream: end, EndHeaders: true}))
}

// sender is a second framer for a goroutine that writes while this one reads, and gives windows back.
func (h *h2client) sender() *http2.Framer { return http2.NewFramer(h.conn, nil) }

// answer2 is what came on a stream.
type answer2 struct {
	answer
	Interim []int
	Hints   []http.Header  // of Interim
	Reset   *http2.ErrCode // instead of an end, or behind it
}

// ask sends a request without a body and waits for the end of the answer.
func (h *h2client) ask(fields ...string) *answer2 {
	h.tb.Helper()
	return h.await(h.open(true, fields...))
}

var errGoneAway = errors.New("GOAWAY")

// await reads until the stream has ended, and gives all windows back.
func (h *h2client) await(id uint32) *answer2 {
	h.tb.Helper()
	a, err := h.follow(id)
	if err != nil {
		h.tb.Fatalf("stream %d: %v", id, err)
	}
	return a
}

func (h *h2client) follow(id uint32) (a *answer2, err error) {
	a = &answer2{}
	for {
		f, err := h.ReadFrame()
		if err != nil {
			return a, err
		}
		if away, ok := f.(*http2.GoAwayFrame); ok {
			if h.away = append(h.away, away.ErrCode); away.ErrCode != http2.ErrCodeNo {
				return a, errGoneAway
			}
		}
		if s, ok := f.(*http2.SettingsFrame); ok && !s.IsAck() {
			_ = h.WriteSettingsAck() // the next read fails too
		}
		if f.Header().StreamID == id && h.take(a, f) {
			return a, nil
		}
	}
}

// take adds a frame to the answer and reports that it was the last one.
func (h *h2client) take(a *answer2, f http2.Frame) bool {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		fields := http.Header{}
		for _, x := range f.RegularFields() {
			fields.Add(x.Name, x.Value)
		}
		status, _ := strconv.Atoi(f.PseudoValue("status"))
		switch {
		case status >= 100 && status < 200:
			a.Interim, a.Hints = append(a.Interim, status), append(a.Hints, fields)
		case status > 0:
			a.Status, a.Header = status, fields
		default:
			a.Trailer = fields
		}
		return f.StreamEnded()
	case *http2.DataFrame:
		a.Body += string(f.Data())
		if n := f.Length; n > 0 {
			_ = h.WriteWindowUpdate(0, n) // the next read fails too
			if !f.StreamEnded() {
				_ = h.WriteWindowUpdate(f.StreamID, n) // as above
			}
		}
		return f.StreamEnded()
	case *http2.RSTStreamFrame:
		a.Reset = &f.ErrCode
		return true
	}
	return false
}

// wantReset fails the test unless the stream was reset with one of the codes.
func (a *answer2) wantReset(tb testing.TB, codes ...http2.ErrCode) {
	tb.Helper()
	if a.Reset == nil || !slices.Contains(codes, *a.Reset) {
		tb.Errorf("answered with %d %.100q, reset %v; want a reset %v", a.Status, a.Body, a.Reset, codes)
	}
}

// wantRefused accepts what a server may do with a malformed request: reset it, or answer 400.
func (a *answer2) wantRefused(tb testing.TB) {
	tb.Helper()
	if a.Reset != nil && *a.Reset == http2.ErrCodeProtocol || a.Status == http.StatusBadRequest {
		return
	}
	tb.Errorf("answered with %d %.100q, reset %v; want a refusal", a.Status, a.Body, a.Reset)
}

// wantGoAway fails the test unless the server ends the connection with one of the codes.
func (h *h2client) wantGoAway(codes ...http2.ErrCode) {
	h.tb.Helper()
	said, err := h.drained()
	if os.IsTimeout(err) || len(said) == 0 || !slices.Contains(codes, said[len(said)-1]) {
		h.tb.Errorf("GOAWAY with %v, want %v; then %v", said, codes, err)
	}
}

// drained reads until the server closes the connection and returns all that its GOAWAYs have said.
func (h *h2client) drained() ([]http2.ErrCode, error) {
	for {
		f, err := h.ReadFrame()
		if err != nil {
			return h.away, err
		}
		if away, ok := f.(*http2.GoAwayFrame); ok {
			h.away = append(h.away, away.ErrCode)
		}
	}
}

// hasEnded reports that the server has closed the connection. That reads as a reset if it had
// not read what the client sent at last, such as an update of a window.
func hasEnded(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) }

// wantLeft fails the test unless the server has ended the connection politely.
func (h *h2client) wantLeft() {
	h.tb.Helper()
	codes, err := h.drained()
	if !hasEnded(err) || len(codes) == 0 || codes[0] != http2.ErrCodeNo {
		h.tb.Errorf("GOAWAY %v, then %v", codes, err)
	}
}
