package h2client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/gozer-gateway/gozer/internal/h2client"
	"github.com/gozer-gateway/gozer/internal/http1"
)

// patience is longer than anything should take, brief a limit that has to pass in a test,
// which may be held up for almost as long.
const (
	patience = 20 * time.Second
	brief    = 2500 * time.Millisecond
)

// fake is a server that speaks in frames, as a test tells it to.
type fake struct {
	addr    string
	accepts atomic.Int64
	streams atomic.Int64 // HEADERS received
}

// peer is one connection of a fake. Its methods are for the goroutine that serves it.
type peer struct {
	*http2.Framer
	conn    net.Conn
	fake    *fake
	number  int64 // of the connection, from 1
	head    bytes.Buffer
	encoder *hpack.Encoder
}

// start runs serve for every connection, after the prefaces: the server's SETTINGS are
// settings, or nothing at all if that is nil.
func start(t *testing.T, settings []http2.Setting, serve func(p *peer)) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{addr: l.Addr().String()}
	var serving sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			p := &peer{Framer: http2.NewFramer(c, c), conn: c, fake: f, number: f.accepts.Add(1)}
			p.encoder = hpack.NewEncoder(&p.head)
			p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
			serving.Go(func() {
				defer c.Close()
				p.run(settings, serve)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	return f
}

func (p *peer) run(settings []http2.Setting, serve func(*peer)) {
	if _, err := io.ReadFull(p.conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	if settings != nil {
		if p.WriteSettings(settings...) != nil {
			return
		}
	}
	serve(p)
}

// request waits for the HEADERS of a request, and acknowledges SETTINGS on the way.
func (p *peer) request() (*http2.MetaHeadersFrame, bool) {
	f, ok := p.next(func(f http2.Frame) bool {
		_, ok := f.(*http2.MetaHeadersFrame)
		return ok
	})
	if !ok {
		return nil, false
	}
	p.fake.streams.Add(1)
	return f.(*http2.MetaHeadersFrame), true
}

// next waits for a frame.
func (p *peer) next(wanted func(http2.Frame) bool) (http2.Frame, bool) {
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return nil, false
		}
		if s, ok := f.(*http2.SettingsFrame); ok && !s.IsAck() && p.WriteSettingsAck() != nil {
			return nil, false
		}
		if wanted(f) {
			return f, true
		}
	}
}

// answer sends HEADERS: pairs of name and value.
func (p *peer) answer(stream uint32, end bool, pairs ...string) {
	p.head.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = p.encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.head.Bytes(), EndStream: end, EndHeaders: true})
}

// drain reads until the connection ends.
func (p *peer) drain() { p.next(func(http2.Frame) bool { return false }) }

func none() []http2.Setting { return []http2.Setting{} }

func client(t *testing.T, s h2client.Settings) *h2client.Transport {
	t.Helper()
	s.Cleartext = true
	if s.ReadTimeout == 0 {
		s.ReadTimeout = patience
	}
	if s.ConnectTimeout == 0 {
		s.ConnectTimeout = patience
	}
	transport := h2client.New(s)
	t.Cleanup(transport.CloseIdle)
	return transport
}

func request(ctx context.Context, t *testing.T, method, addr, body string) *http.Request {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+addr+"/x", content)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// send makes an exchange to its end.
func send(transport http.RoundTripper, r *http.Request) (status int, body string, err error) {
	res, err := transport.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	return res.StatusCode, string(content), err
}

func nothingSent(err error) bool {
	var marked interface{ NothingSent() bool }
	return errors.As(err, &marked) && marked.NothingSent()
}

// unasked reports that an error says nothing about the server.
func unasked(err error) bool {
	var marked interface{ ServerUnasked() bool }
	return errors.As(err, &marked) && marked.ServerUnasked()
}

func timeouts(connect, read, acquire time.Duration) http1.TransportSettings {
	return http1.TransportSettings{ConnectTimeout: connect, ReadTimeout: read, AcquireTimeout: acquire}
}
