package filters

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
)

// RequestIDs says how requests get their names. It is not changed after its
// making, and any goroutine may use it.
type RequestIDs struct {
	// Header is the field that carries the id upstream, and from trusted
	// proxies here, in canonical form.
	Header string

	// Echo puts the field into the answer too.
	Echo bool
}

// Assign names a request: as a trusted proxy has, if the name is harmless, else
// by chance. The front doors call it once it is known where the request comes
// from, and before the filters run. Nil leaves requests without a name.
func (ids *RequestIDs) Assign(c *Context) {
	if ids == nil {
		return
	}
	c.Reserve(ids.Header)
	received := c.Request.Header[ids.Header]
	if len(received) == 1 && isRequestID(received[0]) && c.Origin().Proxied {
		c.RequestID = received[0]
	} else {
		c.RequestID = c.memory.newID()
	}
	c.Out.SetField(ids.Header, c.RequestID)
	if ids.Echo {
		c.writer.echo, c.writer.id = ids.Header, c.RequestID
	}
}

// maxRequestID is the longest name that is taken over from a proxy, in bytes.
const maxRequestID = 128

// isRequestID reports whether a name can stand in logs, fields and bodies as it
// is: letters, digits and the signs of UUIDs, Base64, URIs and trace ids.
func isRequestID(s string) bool {
	if s == "" || len(s) > maxRequestID {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == '~', c == ':', c == '/', c == '+', c == '=', c == '@':
		default:
			return false
		}
	}
	return true
}

const (
	idLength  = 32 // digits, of 128 bits
	idsAtOnce = 32
)

// newID takes a random name from those that were made together, so that most
// requests allocate nothing for theirs. The generator is that of the runtime:
// ChaCha8, seeded by the system, without a lock.
func (m *memory) newID() string {
	if m == nil || len(m.ids) < idLength {
		ids := makeIDs()
		if m == nil {
			return ids[:idLength]
		}
		m.ids = ids
	}
	id := m.ids[:idLength]
	m.ids = m.ids[idLength:]
	return id
}

func makeIDs() string {
	var random [idLength / 2 * idsAtOnce]byte
	for i := 0; i < len(random); i += 8 {
		binary.NativeEndian.PutUint64(random[i:], rand.Uint64()) //nolint:gosec // a ChaCha8 that nobody can seed
	}
	var text [2 * len(random)]byte
	hex.Encode(text[:], random[:])
	return string(text[:])
}

// echoID puts the request's name into the header of its answer.
func (w *writer) echoID(header http.Header) {
	if w.echo != "" {
		header[w.echo] = []string{w.id}
	}
}
