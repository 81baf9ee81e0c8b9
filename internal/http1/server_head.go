package http1

import (
	"net/http"
	"slices"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// SendHead is WriteHeader with a header and a length from elsewhere, which spares
// the copy from one map to another. header may be changed, and is not kept: Header
// returns the response's own, for trailers. length is -1 if it is not known; Content-Length and a missing Content-Type are not looked at, and
// fields that end at this hop are not sent. It returns false, and does nothing, if
// the head has begun, and an error if a field cannot be sent.
func (w *response) SendHead(status int, header http.Header, length int64) (bool, error) {
	if w.over.Load() || w.status != 0 || status < http.StatusOK || status > 999 {
		return false, nil
	}
	for name, own := range w.header {
		header[name] = append(slices.Clip(own), header[name]...)
	}
	w.fix(status)
	w.closing = w.closing || w.mustClose(header)
	w.length = length
	if _, lists := header["Connection"]; lists {
		headers.Strip(header)
	}
	if err := w.tryFields(header, message{endToEnd: true}); err != nil {
		w.length = -1
		w.fix(0)
		return false, err
	}
	if m, ok := w.known(); ok {
		w.decide(m)
	}
	return true, nil
}
