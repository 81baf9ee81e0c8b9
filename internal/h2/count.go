package h2

import "sync/atomic"

// Count counts what ends before its time: streams that are reset, and connections with GOAWAY for
// an error. The zero value is ready, and any number of servers and goroutines may use it.
type Count struct {
	byClient, byServer, cut [numCodes + 1]atomic.Int64 // the last is of unknown codes
	floods                  [numFloods]atomic.Int64
}

// End is a kind of what Count counts.
type End struct {
	// Reset says that it is a stream, and ByClient who has reset it; else it is a connection, which
	// the server has cut.
	Reset, ByClient bool
	// Reason is the code of RFC 9113 in lower case, "other" for an unknown one, or of what
	// there was too much: "resets", "control_frames" or "continuations".
	Reason string
}

// Ends tells how often what has happened.
func (c *Count) Ends() map[End]int64 {
	ends := map[End]int64{}
	add := func(counts []atomic.Int64, of End, name func(int) string) {
		for i := range counts {
			if n := counts[i].Load(); n > 0 {
				of.Reason = name(i)
				ends[of] = n
			}
		}
	}
	add(c.byClient[:], End{Reset: true, ByClient: true}, codeName)
	add(c.byServer[:], End{Reset: true}, codeName)
	add(c.cut[:], End{}, codeName)
	add(c.floods[:], End{}, func(i int) string { return flood(i).String() })
	return ends
}

func (c *Count) received(f frame) {
	if c != nil && f.kind == frameReset {
		c.byClient[min(f.code, numCodes)].Add(1)
	}
}

func (c *Count) sent(f frame) {
	switch {
	case c == nil:
	case f.kind == frameReset:
		c.byServer[min(f.code, numCodes)].Add(1)
	case f.kind == frameGoAway && f.code != codeNone:
		c.cut[min(f.code, numCodes)].Add(1)
	}
}

func (c *Count) flooded(by flood) {
	if c != nil {
		c.floods[by].Add(1)
	}
}

const numCodes = 14

func codeName(code int) string {
	return [numCodes + 1]string{
		"no_error", "protocol_error", "internal_error", "flow_control_error", "settings_timeout", "stream_closed", "frame_size_error", "refused_stream",
		"cancel", "compression_error", "connect_error", "enhance_your_calm", "inadequate_security", "http_1_1_required", "other",
	}[code]
}
