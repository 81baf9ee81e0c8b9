package http1

import (
	"net/http"
	"strconv"
)

// Room that frameChunk needs in front of the data and behind it.
const (
	chunkRoom = 16 + 2
	chunkTail = 2
)

// frameChunk makes a chunk of the n bytes at buf[chunkRoom:] and returns the
// part of buf that holds it. buf needs chunkTail bytes behind the data; n is not
// 0, which would end the body.
func frameChunk(buf []byte, n int) []byte {
	var size [16]byte
	header := strconv.AppendInt(size[:0], int64(n), 16)
	start := chunkRoom - len(header) - 2
	copy(buf[start:], header)
	copy(buf[chunkRoom-2:], "\r\n")
	copy(buf[chunkRoom+n:], "\r\n")
	return buf[start : chunkRoom+n+chunkTail]
}

// appendChunk appends data as one chunk; nothing for no data.
func appendChunk(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	dst = append(strconv.AppendInt(dst, int64(len(data)), 16), "\r\n"...)
	return append(append(dst, data...), "\r\n"...)
}

// appendLastChunk appends the end of a chunked body with its trailer fields.
// Those that must not be in a trailer section are left out.
func appendLastChunk(dst []byte, trailer http.Header) ([]byte, error) {
	dst = append(dst, "0\r\n"...)
	var err error
	for name, values := range trailer {
		if forbiddenTrailer(name) {
			continue
		}
		if dst, err = appendField(dst, name, values); err != nil {
			return dst, err
		}
	}
	return append(dst, "\r\n"...), nil
}
