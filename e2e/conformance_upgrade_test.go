package e2e_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// W02, W05, W06, W07: after the handshake the gateway is a pipe. Frames pass at once and
// untouched, whatever they are: masked, fragmented with a ping in between, with unknown
// bits.
func TestFramesPassUntouched(t *testing.T) {
	t.Parallel()
	const (
		handshake = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
			"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\n\r\n"
		first  = "\x01\x83\x37\xfa\x21\x3d\x5f\x9f\x4d"           // text, more to come, masked
		ping   = "\x89\x80\x00\x01\x02\x03"                       // masked, empty
		second = "\xf0\x82\xff\xff\xff\xff\x00\x00"               // reserved bits and opcode
		pong   = "\x8a\x00"                                       // of the server
		text   = "\x01\x02he\x89\x01!\x80\x03llo\x88\x02\x03\xe8" // fragments around a ping, and a close
	)
	for _, kind := range kinds {
		raw := backendtest.StartRaw(t, backendtest.Step{Reply: handshake + pong}, backendtest.Step{Await: first + ping, Reply: text})
		g := startGateway(t, bothYAML(raw.Addr))
		u := g.upgrade("/"+kind+"/chat", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
			"Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: chat, other", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
		if h := u.response.Header; h.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" || h.Get("Sec-WebSocket-Protocol") != "chat" {
			t.Errorf("W02 %s: the client saw %v", kind, h)
		}
		wantNext(t, u.reader, pong) // without a byte from the client
		write(t, u.conn, first)
		write(t, u.conn, ping)
		wantNext(t, u.reader, text)
		write(t, u.conn, second)
		eventually(t, "W05 W06 the last frame arrives", func() bool { return strings.HasSuffix(raw.Received()[0], "\r\n\r\n"+first+ping+second) })
		for _, field := range []string{"Key: dGhlIHNhbXBsZSBub25jZQ==", "Version: 13", "Protocol: chat, other", "Extensions: permessage-deflate; client_max_window_bits"} {
			if got := strings.ToLower(raw.Received()[0]); !strings.Contains(got, strings.ToLower("\r\nSec-WebSocket-"+field+"\r\n")) {
				t.Errorf("W02 %s: the upstream saw no %s in %q", kind, field, got)
			}
		}
	}
}

// wantNext fails the test unless just these bytes come next.
func wantNext(t *testing.T, r *bufio.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Fatalf("W05 W07 read %q, %v; want %q", got, err, want)
	}
}

// W01, S21: what is no handshake is an ordinary request.
func TestNoHandshake(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	upgrade := []string{"Host: gateway.test", "Connection: Upgrade", "Upgrade: websocket"}
	for name, tt := range map[string]struct {
		line, body string
		more       []string
		interim    bool
	}{
		"W01 S21 HTTP/1.0":                 {"GET /url/x HTTP/1.0", "", nil, false},
		"W01 POST with a body":             {"POST /url/x HTTP/1.1", "hi", []string{"Content-Length: 2"}, false},
		"S21 100 comes before all answers": {"POST /url/x HTTP/1.1", "hi", []string{"Content-Length: 2", "Expect: 100-continue"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, g.Proxy)
			write(t, c, lines(append(append([]string{tt.line}, upgrade...), tt.more...)...))
			r := bufio.NewReader(c)
			if tt.interim {
				nextAnswer(t, r, http.MethodPost).wantStatus(t, http.StatusContinue)
			}
			write(t, c, tt.body)
			seen := nextAnswer(t, r, http.MethodPost).reflected(t)
			if seen.wantLines(t, []string{"Upgrade", "Connection", "Expect"}); seen.Body != tt.body {
				t.Errorf("body %q arrived", seen.Body)
			}
		})
	}
}
