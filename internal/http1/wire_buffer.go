package http1

import "sync"

// Buffers come in sizes that grow by four, so that a long head is copied a few
// times at most.
const (
	smallestBuffer = 4 << 10
	bufferClasses  = 5 // up to 1 MiB; larger ones are not pooled
)

// buffer is a piece of memory that remembers where it belongs.
type buffer struct {
	bytes []byte
	class int // bufferClasses if it belongs nowhere
}

// buffers lends buffers. A server or transport owns one; any number of
// goroutines may use it.
type buffers struct {
	classes [bufferClasses]sync.Pool
}

func newBuffers() *buffers { return &buffers{} }

// get lends a buffer of at least size bytes.
func (b *buffers) get(size int) *buffer {
	class, capacity := 0, smallestBuffer
	for capacity < size && class < bufferClasses {
		class, capacity = class+1, capacity*4
	}
	if class == bufferClasses {
		return &buffer{make([]byte, size), class}
	}
	if lent, ok := b.classes[class].Get().(*buffer); ok {
		return lent
	}
	return &buffer{make([]byte, capacity), class}
}

func (b *buffers) put(lent *buffer) {
	if lent.class < bufferClasses {
		b.classes[lent.class].Put(lent)
	}
}
