package http1

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// wireConn is a connection that has received text, in pieces of some size.
type wireConn struct {
	net.Conn
	text  []byte
	piece int // bytes per read; all for 0
	reads int
}

func (c *wireConn) Read(p []byte) (int, error) {
	c.reads++
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	if c.piece > 0 {
		p = p[:min(len(p), c.piece)]
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

func wireReader(text string, piece int) *reader {
	var r reader
	r.init(&wireConn{text: []byte(text), piece: piece}, newBuffers())
	return &r
}

// rest returns what the reader has not consumed.
func (r *reader) rest(t *testing.T) string {
	t.Helper()
	left := bytes.Clone(r.buffered())
	more, err := io.ReadAll(r.conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(left) + string(more)
}

// received is one message as this package understood it.
type received struct {
	head    head
	header  http.Header
	url     url.URL
	trailer http.Header
	body    string
	rest    string
}

// receiveRequest reads a request that arrives in pieces.
func receiveRequest(t *testing.T, text string, piece int, l Limits) (received, error) {
	t.Helper()
	var m received
	l = l.withDefaults()
	m.head.reset(requestHead)
	r := wireReader(text, piece)
	if err := m.head.read(r, &l); err != nil {
		return m, err
	}
	if err := m.head.finishRequest(); err != nil {
		return m, err
	}
	if err := m.head.fillURL(&m.url); err != nil {
		return m, err
	}
	return m, m.receiveBody(t, r, &l)
}

// receiveResponse reads a response to a request with the method.
func receiveResponse(t *testing.T, method, text string, piece int, l Limits) (received, error) {
	t.Helper()
	var m received
	l = l.withDefaults()
	m.head.reset(responseHead)
	r := wireReader(text, piece)
	if err := m.head.read(r, &l); err != nil {
		return m, err
	}
	if err := m.head.finishResponse(method); err != nil {
		return m, err
	}
	return m, m.receiveBody(t, r, &l)
}

func (m *received) receiveBody(t *testing.T, r *reader, l *Limits) error {
	t.Helper()
	m.header = http.Header{}
	m.head.fillHeader(m.header, nil)
	m.trailer = m.head.announced()
	var b body
	b.reset(r, m.head.framing, m.head.length, &m.trailer, l)
	got, err := io.ReadAll(&b)
	m.body = string(got)
	if b.complete() != (err == nil) {
		t.Errorf("complete is %v after %v", b.complete(), err)
	}
	m.rest = r.rest(t)
	return err
}

// wantRefused fails the test unless err refuses a message with the status.
func wantRefused(t *testing.T, err error, status int) {
	t.Helper()
	var refused *Error
	if !errors.As(err, &refused) {
		t.Fatalf("error %v, want a refusal with %d", err, status)
	}
	if refused.Status != status {
		t.Errorf("%v, want %d", refused, status)
	}
}

// wireHead makes a head of its lines.
func wireHead(text ...string) string { return strings.Join(text, "\r\n") + "\r\n\r\n" }
