//go:build !unix

package http1

// receiveNow reads the socket as any other connection is read.
func (r *reader) receiveNow(uintptr) bool {
	r.failure = r.awaitByte()
	return true
}
