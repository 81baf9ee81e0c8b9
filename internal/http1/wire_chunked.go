package http1

import (
	"bytes"
	"io"
	"net/http"
)

const (
	longestChunkLine = 4 << 10
	largestChunkDebt = 8 << 10
)

// chunkState is what comes next in a chunked body.
type chunkState uint8

const (
	chunkHeader chunkState = iota
	chunkData
	chunkEnd
	chunkTrailer
)

// readChunked waits for data and returns what has been received of it, over the
// borders of chunks. io.EOF comes with the last data if it is there already.
func (b *body) readChunked(p []byte) (int, error) {
	if err := b.awaitChunk(); err != nil {
		return 0, err
	}
	n, err := b.src.Read(p[:min(int64(len(p)), b.left)])
	b.tookChunk(int64(n))
	if err != nil {
		return n, unexpected(err)
	}
	for {
		more, err := b.nextChunk()
		if more || err != nil || n == len(p) || len(b.src.buffered()) == 0 {
			return n, err
		}
		got := copy(p[n:], b.src.buffered()[:min(int64(len(b.src.buffered())), b.left)])
		b.src.discard(got)
		b.tookChunk(int64(got))
		n += got
	}
}

// awaitChunk reads on until chunk data is next.
func (b *body) awaitChunk() error {
	for {
		more, err := b.nextChunk()
		if !more || err != nil {
			return err
		}
		if err := b.src.fill(); err != nil {
			return unexpected(err)
		}
	}
}

// nextChunk consumes buffered framing until chunk data is next; true asks for
// more bytes. It returns io.EOF at the end of the body.
func (b *body) nextChunk() (more bool, err error) {
	for b.chunk != chunkData && !more && err == nil {
		more, err = b.stepChunk()
	}
	return more, err
}

func (b *body) tookChunk(n int64) {
	if b.left -= n; b.left == 0 {
		b.chunk = chunkEnd
	}
}

// stepChunk consumes the piece of framing that is next if all of it is
// buffered; true asks for more bytes.
func (b *body) stepChunk() (more bool, err error) {
	switch b.chunk {
	case chunkEnd:
		return b.stepChunkEnd()
	case chunkTrailer:
		return b.stepTrailer()
	default:
		return b.stepChunkHeader()
	}
}

func (b *body) stepChunkEnd() (bool, error) {
	buffered := b.src.buffered()
	switch {
	case len(buffered) == 0, len(buffered) == 1 && buffered[0] == '\r':
		return true, nil
	case buffered[0] != '\r' || buffered[1] != '\n':
		return false, malformed("chunk data does not end in CRLF")
	}
	b.src.discard(2)
	b.chunk = chunkHeader
	return false, nil
}

func (b *body) stepChunkHeader() (bool, error) {
	line, complete, err := b.line()
	if len(line) > longestChunkLine {
		return false, refuse(http.StatusRequestEntityTooLarge, "chunk extensions too large")
	}
	if !complete || err != nil {
		return true, err
	}
	size, err := parseChunkHeader(line)
	if err != nil {
		return false, err
	}
	b.debt = max(0, b.debt+int64(len(line))-15-size)
	if b.debt > largestChunkDebt {
		return false, refuse(http.StatusRequestEntityTooLarge, "chunk extensions too large")
	}
	b.endLine(len(line))
	b.left, b.chunk = size, chunkData
	if size == 0 {
		b.chunk = chunkTrailer
	}
	return false, nil
}

// line returns the buffered line, or what there is of it so far. It may hold no
// control character but tabs.
func (b *body) line() (line []byte, complete bool, err error) {
	buffered := b.src.buffered()
	for {
		at := nextControl(buffered, b.seen)
		b.seen = at
		switch {
		case at == len(buffered) || buffered[at] == '\r' && at+1 == len(buffered):
			return buffered[:at], false, nil
		case buffered[at] == '\r' && buffered[at+1] == '\n':
			return buffered[:at], true, nil
		case buffered[at] != '\t':
			return buffered[:at], false, malformed(controlIn(buffered[at]))
		}
		b.seen++
	}
}

// endLine consumes a line of n bytes and its end.
func (b *body) endLine(n int) {
	b.src.discard(n + 2)
	b.seen = 0
}

// parseChunkHeader reads the size of a chunk: up to 16 hexadecimal digits below
// 2^63. Extensions may follow behind a semicolon; nothing is made of them.
func parseChunkHeader(line []byte) (int64, error) {
	digits, _, _ := bytes.Cut(line, []byte{';'})
	var size uint64
	for _, c := range digits {
		value, ok := unhex(c)
		if !ok {
			return 0, malformed("invalid chunk size")
		}
		size = size<<4 | uint64(value)
	}
	if len(digits) == 0 || len(digits) > 16 || size > 1<<63-1 {
		return 0, malformed("invalid chunk size")
	}
	return int64(size), nil
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// stepTrailer reads a line of the trailer section; the empty one ends the body.
func (b *body) stepTrailer() (bool, error) {
	line, complete, err := b.line()
	if err != nil {
		return false, err
	}
	if b.trailerBytes+len(line) > b.limits.HeaderBytes || b.trailerLines == b.limits.Headers && len(line) > 0 {
		return false, refuse(http.StatusRequestHeaderFieldsTooLarge, "trailer section too large")
	}
	if !complete {
		return true, nil
	}
	if len(line) == 0 {
		b.endLine(0)
		return false, io.EOF
	}
	place, err := fieldLine(line, 0, len(line))
	if err != nil {
		return false, err
	}
	b.keepTrailer(line, place)
	b.trailerBytes += len(line) + 2
	b.trailerLines++
	b.endLine(len(line))
	return false, nil
}

// keepTrailer adds a trailer field to the message's, unless it would change how
// the message is read (RFC 9110 6.5.1).
func (b *body) keepTrailer(text []byte, l line) {
	name := string(text[l.name:l.colon])
	if b.trailer == nil || forbiddenTrailer(name) {
		return
	}
	if *b.trailer == nil {
		*b.trailer = http.Header{}
	}
	(*b.trailer)[name] = append((*b.trailer)[name], string(text[l.value:l.end]))
}

// forbiddenTrailer reports whether a field has no business in a trailer section.
func forbiddenTrailer(canonical string) bool {
	switch canonical {
	case "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Connection", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// skipChunked consumes buffered bytes of a chunked body and reports whether it
// got anywhere.
func (b *body) skipChunked() bool {
	if b.chunk == chunkData {
		n := min(b.left, int64(len(b.src.buffered())))
		b.src.discard(int(n))
		b.tookChunk(n)
		return true
	}
	more, err := b.stepChunk()
	b.err = err
	return !more
}
