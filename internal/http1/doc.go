// Package http1 speaks HTTP/1.1 with clients and upstream servers, as strictly
// as RFC 9112 and with few copies. What is ambiguous is refused, and what is
// passed on is written anew, so the two sides never see different messages.
//
// # Shared building blocks
//
// One buffered reader stands on every connection. Its buffer comes from pools
// that the server or transport owns, and goes back while the connection idles:
//
//	func newBuffers() *buffers
//	func (r *reader) init(conn net.Conn, pool *buffers)
//	func (r *reader) await() error           // until a byte is buffered; holds no buffer while it waits
//	func (r *reader) fill() error            // at least one byte more
//	func (r *reader) buffered() []byte       // until the next call of another method
//	func (r *reader) discard(n int)
//	func (r *reader) Read(p []byte) (int, error)
//	func (r *reader) release()               // gives an empty buffer back
//	func (r *reader) drop()                  // gives the buffer back with what it holds
//
// A head is parsed once into one string; names, values, method and target are
// slices of it. It is reused from message to message:
//
//	func (h *head) reset(kind headKind)                    // requestHead or responseHead
//	func (h *head) scan(b []byte, l *Limits) (int, error)  // 0 as long as the head is incomplete
//	func (h *head) read(r *reader, l *Limits) error        // scan, fill and discard until it is complete
//	func (h *head) finishRequest() error                   // after read: Host, framing, Expect, target
//	func (h *head) finishResponse(method string) error     // after read: framing
//	func (h *head) fillHeader(dst http.Header, values []string) []string
//	func (h *head) fillURL(u *url.URL) error
//	func (h *head) announced() http.Header                 // Trailer field, nil for none
//	func (h *head) persistent() bool
//	func (h *head) forget()                                // drops all references
//
// Results are fields of head: method, target, host, minor, status, reason,
// fields, framing, length, connection, expectContinue, upgrade.
//
// Bodies are read and measured by
//
//	func (b *body) reset(src *reader, f framing, length int64, trailer *http.Header, l *Limits)
//	func (b *body) Read(p []byte) (int, error)
//	func (b *body) complete() bool
//	func (b *body) remaining() (int64, bool)   // bytes left of a body of known length
//	func (b *body) advance(n int64)            // they were taken from the connection itself
//	func (b *body) discardBuffered() bool      // without blocking; true if the body is complete
//
// and written with
//
//	func appendRequestHead(dst []byte, r *http.Request, m message) ([]byte, error)
//	func appendResponseHead(dst []byte, status int, h http.Header, m message) ([]byte, error)
//	func appendInterimHead(dst []byte, status int, h http.Header) ([]byte, error)
//	func frameChunk(buf []byte, n int) []byte
//	func appendChunk(dst, data []byte) []byte
//	func appendLastChunk(dst []byte, trailer http.Header) ([]byte, error)
//
// Connections are looked at without reading by
//
//	func newProber(conn net.Conn) *prober      // nil when the connection has no socket
//	func (p *prober) peek() liveness           // quiet, readable or gone
package http1
