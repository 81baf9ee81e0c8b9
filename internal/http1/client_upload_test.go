package http1_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
)

func TestUploads(t *testing.T) {
	b := backendtest.Start(t, backendtest.Echo("b"))
	transport := newTransport(t, http1.TransportSettings{ReadTimeout: 10 * time.Second})
	for _, size := range []int{0, 1, 4096, 16 << 10, 16<<10 + 1, 70_000, 3 << 20} {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprintf("C131 %d bytes, length known %v", size, known), func(t *testing.T) {
				content := bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
				sum := sha256.Sum256(content)
				var body io.Reader = bytes.NewReader(content)
				if !known {
					body = anyReader{body}
				}
				res, err := transport.RoundTrip(newRequest(t.Context(), t, "PUT", b.URL(), body))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				got := backendtest.ReadEcho(t, res.Body)
				if got.BodyLength != int64(size) || got.BodySHA256 != hex.EncodeToString(sum[:]) {
					t.Errorf("%d bytes arrived, hash %s", got.BodyLength, got.BodySHA256)
				}
				if known && got.ContentLength != int64(size) || !known && got.ContentLength != -1 {
					t.Errorf("announced %d", got.ContentLength)
				}
			})
		}
	}
	if n := b.Connections(); n != 1 {
		t.Errorf("%d connections, want 1: an upload costs its connection", n)
	}
}

// M51, C073: a server that answers in the middle of an upload is heard, and an
// upload that it does not want stops.
func TestEarlyAnswer(t *testing.T) {
	for name, reply := range map[string]string{
		"M51 C073 413 and close":   "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno",
		"M51 complete, persistent": "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno",
		"M51 without a body":       "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			u, transport := listen(t), newTransport(t, http1.TransportSettings{ReadTimeout: 10 * time.Second, MaxTotal: 1})
			ended := make(chan bool)
			go func() {
				p := u.accept()
				p.await("\r\n\r\n")
				p.send(reply)
				ended <- p.ended()
			}()
			body := &closeable{Reader: endless{}, closed: make(chan struct{})}
			req := newRequest(t.Context(), t, "POST", u.url(), nil)
			req.Body, req.ContentLength = body, 1<<40
			a := roundTrip(t, transport, req)
			if a.err != nil || a.StatusCode/100 != 4 {
				t.Fatalf("got %v, %v", a.Response, a.err)
			}
			if !<-ended {
				t.Error("M51 the upload goes on")
			}
			<-body.closed
		})
	}
}

// M51: a server that refuses and says it will close gets no more of the request, even while
// its answer goes on.
func TestUploadStopsForAServerThatRefuses(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{ReadTimeout: time.Minute})
	var taken int64
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n")
		for {
			_ = p.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
			n, err := io.CopyN(io.Discard, p, 1<<20)
			if taken += n; err != nil || taken > 1<<30 {
				break
			}
		}
		p.send("no")
	}()
	req := newRequest(t.Context(), t, "POST", u.url(), endless{})
	if a := roundTrip(t, transport, req); a.err != nil || a.body != "no" {
		t.Fatalf("got %v, %q, %v", a.Response, a.body, a.err)
	}
	if taken > 1<<30 {
		t.Errorf("the upload has gone on for %d bytes", taken)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// An answer may stream while the request still does.
func TestBothWaysAtOnce(t *testing.T) {
	t.Run("persistent", func(t *testing.T) {
		transport, u := bothWays(t, "")
		fetch(t, transport, "GET", u.url()).wantOK(t)
	})
	t.Run("on a connection that ends with it", func(t *testing.T) { bothWays(t, "Connection: close\r\n") })
}

func bothWays(t *testing.T, fields string) (*http1.Transport, *upstream) {
	t.Helper()
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send("HTTP/1.1 200 OK\r\n" + fields + "Transfer-Encoding: chunked\r\n\r\n")
		for _, word := range []string{"one", "two", "end"} {
			p.await("3\r\n" + word + "\r\n")
			p.send("3\r\n" + word + "\r\n")
		}
		p.await("0\r\n\r\n")
		p.send("0\r\n\r\n")
		p.await("\r\n\r\n")
		p.send(okReply)
	}()
	r, w := io.Pipe()
	res, err := transport.RoundTrip(newRequest(t.Context(), t, "POST", u.url(), r))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for _, word := range []string{"one", "two", "end"} {
		_, _ = io.WriteString(w, word)
		got := make([]byte, 3)
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != word {
			t.Fatalf("got %q, %v; want %q", got, err, word)
		}
	}
	w.Close()
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Fatalf("got %q, %v at the end", rest, err)
	}
	return transport, u
}

// S43: interim responses are handed on in order, except 100, which is a matter of
// one hop.
func TestInterimResponses(t *testing.T) {
	raw := replies(t, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\nLink: b\r\n\r\nHTTP/1.1 199 Odd\r\n\r\n"+okReply)
	var got strings.Builder
	ctx := http1.WithInterim(t.Context(), func(status int, header http.Header) {
		fmt.Fprintf(&got, "%d %v ", status, header["Link"])
	})
	transport := newTransport(t, http1.TransportSettings{})
	roundTrip(t, transport, newRequest(ctx, t, "GET", "http://"+raw.Addr, http.NoBody)).wantOK(t)
	if want := "103 [a b] 199 [] "; got.String() != want {
		t.Errorf("relayed %q, want %q", got.String(), want)
	}
}

func TestUpgrade(t *testing.T) {
	u, transport := listen(t), newTransport(t, http1.TransportSettings{})
	go func() {
		p := u.accept()
		p.await("\r\n\r\n")
		p.send("HTTP/1.1 101 Switching Protocols\r\nconnection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Accept: x\r\n\r\nearly")
		p.await("ping")
		p.send("pong")
		_, _ = io.Copy(io.Discard, p)
		p.send("bye")
		p.Close()
	}()
	req := newRequest(t.Context(), t, "GET", u.url(), nil)
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"foo, websocket"}}
	res, err := transport.RoundTrip(req) //nolint:bodyclose // the tunnel is
	if err != nil {
		t.Fatal(err)
	}
	tunnel, ok := res.Body.(*http1.Tunnel)
	if !ok || res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("Sec-WebSocket-Accept") != "x" {
		t.Fatalf("C100 got %+v with a %T", res, res.Body)
	}
	defer tunnel.Close()
	_, _ = io.WriteString(tunnel, "ping")
	got := make([]byte, len("earlypong"))
	if _, err := io.ReadFull(tunnel, got); err != nil || string(got) != "earlypong" {
		t.Fatalf("read %q, %v", got, err)
	}
	if err := tunnel.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(tunnel); err != nil || string(rest) != "bye" {
		t.Errorf("W08 read %q, %v at the end", rest, err)
	}
}

func TestTunnelDeadline(t *testing.T) {
	raw := replies(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	ctx, gone := http1.InterruptibleContext(t.Context())
	req := newRequest(ctx, t, "GET", "http://"+raw.Addr, nil)
	req.Header.Set("Upgrade", "x")
	res, err := newTransport(t, http1.TransportSettings{}).RoundTrip(req) //nolint:bodyclose // the tunnel is
	if err != nil {
		t.Fatal(err)
	}
	tunnel := res.Body.(*http1.Tunnel)
	defer tunnel.Close()
	_ = tunnel.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := tunnel.Read(make([]byte, 1)); !strings.Contains(fmt.Sprint(err), "timeout") {
		t.Errorf("W10 idle tunnel ended with %v", err)
	}
	gone()
	_ = tunnel.SetReadDeadline(time.Time{})
	if _, err := tunnel.Read(make([]byte, 1)); err != context.Canceled { //nolint:errorlint // as it is
		t.Errorf("C103 read after the end of the request: %v", err)
	}
}

func TestRefusedUpgrades(t *testing.T) {
	for name, reply := range map[string]string{
		"C104 101 without Upgrade":      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n",
		"C104 101 with another Upgrade": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n",
		"C104 101 without Connection":   "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			raw := replies(t, reply)
			req := newRequest(t.Context(), t, "GET", "http://"+raw.Addr, nil)
			req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
			roundTrip(t, newTransport(t, http1.TransportSettings{}), req).wantRefused(t)
		})
	}
	for name, reply := range map[string]string{
		"C104 W04 403": "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
		"C104 W04 200": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes",
		"C104 W04 302": "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
		"W03 426":      "HTTP/1.1 426 Upgrade Required\r\nConnection: Upgrade\r\nUpgrade: other\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			raw, transport := replies(t, reply, okReply), newTransport(t, http1.TransportSettings{})
			req := newRequest(t.Context(), t, "GET", "http://"+raw.Addr, nil)
			req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
			if a := roundTrip(t, transport, req); a.err != nil || a.StatusCode == http.StatusSwitchingProtocols {
				t.Errorf("got %v, %v", a.Response, a.err)
			}
			fetch(t, transport, "GET", "http://"+raw.Addr).wantOK(t)
			if n := len(raw.Received()); n != 1 {
				t.Errorf("%d connections, want 1", n)
			}
		})
	}
}
