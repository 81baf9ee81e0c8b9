package h2

import "encoding/binary"

// The frames that a guard knows (RFC 9113 6, RFC 9218 7.1).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	framePriority     = 0x2
	frameReset        = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9
)

const (
	headSize   = 9
	resetSize  = headSize + 4
	goAwaySize = headSize + 8 // the last stream, then the code
)

// frame is what a guard wants to know of one.
type frame struct {
	length int
	kind   byte
	stream uint32
	code   uint32 // of a reset or GOAWAY
}

// frames follows one direction of a connection from frame to frame, however it is cut into
// pieces.
type frames struct {
	preface int // bytes still to come before the first frame
	payload int // bytes still to come of the current frame
	have    int
	head    [goAwaySize]byte
}

// whole reports that the last frame has passed completely.
func (f *frames) whole() bool { return f.preface+f.payload+f.have == 0 }

// scan passes what comes next. It calls seen for every frame whose head is complete.
func (f *frames) scan(p []byte, seen func(frame)) {
	for len(p) > 0 {
		f.skip(&p, &f.preface)
		if f.skip(&p, &f.payload); len(p) == 0 {
			break
		}
		n := copy(f.head[f.have:f.wanted()], p)
		f.have += n
		p = p[n:]
		if f.have == f.wanted() {
			seen(f.take())
		}
	}
}

func (f *frames) skip(p *[]byte, left *int) {
	n := min(len(*p), *left)
	*left -= n
	*p = (*p)[n:]
}

// wanted is how much of a frame has to be there: with a reset or GOAWAY goes its code.
func (f *frames) wanted() int {
	switch {
	case f.have < headSize:
	case f.head[3] == frameReset && f.length() >= resetSize-headSize:
		return resetSize
	case f.head[3] == frameGoAway && f.length() >= goAwaySize-headSize:
		return goAwaySize
	}
	return headSize
}

func (f *frames) length() int {
	return int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
}

// take returns the frame whose head is complete. What is left of it is to be skipped.
func (f *frames) take() frame {
	got := frame{length: f.length(), kind: f.head[3], stream: binary.BigEndian.Uint32(f.head[5:]) &^ (1 << 31)}
	if f.have > headSize {
		got.code = binary.BigEndian.Uint32(f.head[f.have-4:])
	}
	f.payload = got.length - (f.have - headSize)
	f.have = 0
	return got
}
