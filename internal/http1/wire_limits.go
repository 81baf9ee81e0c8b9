package http1

// Limits bound what a peer may send. The zero value of a field means the
// default given with it.
type Limits struct {
	// RequestLine bounds the bytes of the request line, answered with 414.
	// Default 8 KiB.
	RequestLine int

	// HeaderBytes bounds the bytes of a whole head, and again of a trailer
	// section, answered with 431. Default 64 KiB.
	HeaderBytes int

	// Headers bounds the field lines of a head, and again of a trailer
	// section, answered with 431. Default 100.
	Headers int
}

func (l Limits) withDefaults() Limits {
	atLeastOne(&l.RequestLine, 8<<10)
	atLeastOne(&l.HeaderBytes, 64<<10)
	atLeastOne(&l.Headers, 100)
	return l
}

func atLeastOne(v *int, fallback int) {
	if *v <= 0 {
		*v = fallback
	}
}
