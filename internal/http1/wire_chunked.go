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

// readChunked returns data of the current chunk, once it has read over what
// stands in front of it.
func (b *body) readChunked(p []byte) (int, error) {
	for b.chunk != chunkData {
		more, err := b.stepChunk()
		if err != nil {
			return 0, err
		}
		if more {
			if err := b.src.fill(); err != nil {
				return 0, unexpected(err)
			}
		}
	}
	n, err := b.src.Read(p[:min(int64(len(p)), b.left)])
	b.tookChunk(int64(n))
	if err != nil {
		return n, unexpected(err)
	}
	return n, b.endIfBuffered()
}

// endIfBuffered reads on over the end of the body if it is there already, so
// that the last data comes with io.EOF.
func (b *body) endIfBuffered() error {
	for b.chunk != chunkData {
		more, err := b.stepChunk()
		if more || err != nil {
			return err
		}
	}
	return nil
}

func (b *body) tookChunk(n int64) {
	if b.left -= n; b.left == 0 {
		b.chunk = chunkEnd
	}
}

// stepChunk consumes the framing that is next if all of it is buffered; true
// asks for more bytes. It returns io.EOF at the end of the body.
func (b *body) stepChunk() (more bool, err error) {
	buffered := b.src.buffered()
	switch b.chunk {
	case chunkEnd:
		return b.stepChunkEnd(buffered)
	case chunkTrailer:
		return b.stepTrailer(buffered)
	default:
		return b.stepChunkHeader(buffered)
	}
}

func (b *body) stepChunkEnd(buffered []byte) (bool, error) {
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

func (b *body) stepChunkHeader(buffered []byte) (bool, error) {
	end, err := lineEnd(buffered, longestChunkLine)
	if end < 0 || err != nil {
		return true, err
	}
	size, err := parseChunkHeader(buffered[:end])
	if err != nil {
		return false, err
	}
	b.debt = max(0, b.debt+int64(end)-15-size)
	if b.debt > largestChunkDebt {
		return false, refuse(http.StatusRequestEntityTooLarge, "chunk extensions too large")
	}
	b.src.discard(end + 2)
	b.left, b.chunk = size, chunkData
	if size == 0 {
		b.chunk = chunkTrailer
	}
	return false, nil
}

// lineEnd returns the place of the CRLF that ends the line b begins with, -1 if
// it has not come yet. A line may hold no control character but tabs.
func lineEnd(b []byte, limit int) (int, error) {
	for at := 0; ; at++ {
		at = nextControl(b, at)
		switch {
		case at > limit:
			return 0, malformed("line too long")
		case at == len(b) || b[at] == '\r' && at+1 == len(b):
			return -1, nil
		case b[at] == '\r' && b[at+1] == '\n':
			return at, nil
		case b[at] != '\t':
			return 0, malformed("control character in a line")
		}
	}
}

// parseChunkHeader reads the size of a chunk: up to 16 hexadecimal digits below
// 2^63. Extensions may follow behind a semicolon; nothing is made of them.
func parseChunkHeader(line []byte) (int64, error) {
	digits := line
	if semicolon := bytes.IndexByte(line, ';'); semicolon >= 0 {
		digits = line[:semicolon]
	}
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

// stepTrailer reads the trailer section once it is buffered as a whole.
func (b *body) stepTrailer(buffered []byte) (bool, error) {
	var lines []line
	for at := 0; ; {
		n, err := lineEnd(buffered[at:], b.limits.HeaderBytes-at)
		switch {
		case err != nil:
			return false, err
		case n < 0:
			return true, nil
		case n == 0:
			b.keepTrailer(buffered, lines)
			b.src.discard(at + 2)
			return false, io.EOF
		case len(lines) == b.limits.Headers:
			return false, refuse(http.StatusRequestHeaderFieldsTooLarge, "too many trailer fields")
		}
		place, err := fieldLine(buffered, at, at+n)
		if err != nil {
			return false, err
		}
		lines = append(lines, place)
		at += n + 2
	}
}

// keepTrailer merges trailer fields into the message's, except those that
// would change how it is read (RFC 9110 6.5.1).
func (b *body) keepTrailer(buffered []byte, lines []line) {
	if b.trailer == nil {
		return
	}
	for _, l := range lines {
		name := string(buffered[l.name:l.colon])
		if forbiddenTrailer(name) {
			continue
		}
		if *b.trailer == nil {
			*b.trailer = http.Header{}
		}
		(*b.trailer)[name] = append((*b.trailer)[name], string(buffered[l.value:l.end]))
	}
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
