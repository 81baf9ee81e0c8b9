package http1

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/race"
)

// browserRequest is what a current browser sends.
const browserRequest = "GET /api/users/42/orders?page=2&size=50 HTTP/1.1\r\n" +
	"Host: shop.example.com\r\n" +
	"Connection: keep-alive\r\n" +
	"sec-ch-ua: \"Chromium\";v=\"126\", \"Not.A/Brand\";v=\"24\"\r\n" +
	"sec-ch-ua-mobile: ?0\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n" +
	"Sec-Fetch-Site: same-origin\r\n" +
	"Sec-Fetch-Mode: cors\r\n" +
	"Referer: https://shop.example.com/orders\r\n" +
	"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
	"Accept-Language: en-GB,en;q=0.9,de;q=0.8\r\n" +
	"Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n\r\n"

const smallRequest = "GET /api/x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: wrk\r\nAccept: */*\r\n\r\n"

// lowerNames is browserRequest as HTTP/2 gateways pass it on.
func lowerNames() string {
	line, fields, _ := strings.Cut(browserRequest, "\r\n")
	return line + "\r\n" + strings.ToLower(fields)
}

const typicalResponse = "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Mon, 30 Nov 2026 00:00:00 GMT\r\nContent-Type: application/json\r\n" +
	"Content-Length: 512\r\nETag: \"5f0c\"\r\nCache-Control: no-store\r\nVary: Accept-Encoding\r\n\r\n"

// parser holds what a connection keeps from message to message.
type parser struct {
	head   head
	header http.Header
	values []string
	url    url.URL
	text   []byte
	limits Limits
}

func newParser() *parser {
	return &parser{header: http.Header{}, limits: Limits{}.withDefaults()}
}

func (p *parser) request(text string) {
	p.text = append(p.text[:0], text...)
	p.head.reset(requestHead)
	n, err := p.head.scan(p.text, &p.limits)
	if err != nil || n != len(text) || p.head.finishRequest() != nil || p.head.fillURL(&p.url) != nil {
		panic("refused")
	}
	clear(p.header)
	p.values = p.head.fillHeader(p.header, p.values)
}

func (p *parser) response() {
	const text = typicalResponse
	p.text = append(p.text[:0], text...)
	p.head.reset(responseHead)
	n, err := p.head.scan(p.text, &p.limits)
	if err != nil || n != len(text) || p.head.finishResponse(http.MethodGet) != nil {
		panic("refused")
	}
	clear(p.header)
	p.values = p.head.fillHeader(p.header, p.values)
}

func BenchmarkParseRequest(b *testing.B) {
	for name, text := range map[string]string{"browser": browserRequest, "lower": lowerNames(), "small": smallRequest} {
		b.Run(name, func(b *testing.B) {
			p := newParser()
			b.ReportAllocs()
			for b.Loop() {
				p.request(text)
			}
		})
	}
}

func BenchmarkParseResponse(b *testing.B) {
	p := newParser()
	b.ReportAllocs()
	for b.Loop() {
		p.response()
	}
}

// outgoing is a request as the filters leave it.
func outgoing() *http.Request {
	p := newParser()
	p.request(browserRequest)
	return &http.Request{Method: p.head.method, URL: &url.URL{Opaque: "/users/42", RawQuery: "page=2&size=50"}, Host: p.head.host, Header: p.header}
}

func BenchmarkWriteRequest(b *testing.B) {
	r, dst := outgoing(), make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := appendRequestHead(dst, r, message{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteResponse(b *testing.B) {
	p, dst := newParser(), make([]byte, 0, 4096)
	p.response()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := appendResponseHead(dst, http.StatusOK, p.header, message{framing: lengthBody, length: 512}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChunked(b *testing.B) {
	const size = 1 << 20
	data := strings.Repeat("x", 4096)
	var text []byte
	for range size / len(data) {
		text = appendChunk(text, []byte(data))
	}
	text, _ = appendLastChunk(text, nil)
	l, p := Limits{}.withDefaults(), make([]byte, 32<<10)
	pool := newBuffers()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		var r reader
		r.init(&wireConn{text: text}, pool)
		var body body
		body.reset(&r, chunkedBody, -1, nil, &l)
		if n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{&body}, p); n != size || err != nil {
			b.Fatal(n, err)
		}
		r.drop()
	}
}

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p, r, dst, lower := newParser(), outgoing(), make([]byte, 0, 4096), lowerNames()
	response := newParser()
	response.response()
	gates := map[string]struct {
		most float64
		run  func()
	}{
		"parse a browser's request":   {1, func() { p.request(browserRequest) }},
		"the same in lower case":      {1, func() { p.request(lower) }},
		"parse a response":            {1, func() { p.response() }},
		"write a request's head":      {0, func() { _, _ = appendRequestHead(dst, r, message{framing: lengthBody, length: 5}) }},
		"write a response's head":     {0, func() { _, _ = appendResponseHead(dst, 200, response.header, message{framing: chunkedBody}) }},
		"write a chunk":               {0, func() { dst = appendChunk(dst[:0], []byte("abc")) }},
		"write the end of the chunks": {0, func() { _, _ = appendLastChunk(dst, nil) }},
	}
	for name, gate := range gates {
		t.Run(name, func(t *testing.T) {
			if got := testing.AllocsPerRun(100, gate.run); got > gate.most {
				t.Errorf("%v allocations, want at most %v", got, gate.most)
			}
		})
	}
}
