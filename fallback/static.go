package fallback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// MarkHeader is set to "true" on every response of a Static provider, so that
// nobody takes it for the resource itself.
const MarkHeader = "X-Gateway-Fallback"

// Static is a provider that always gives the same response. The zero value
// answers 503 with an empty body. It must not be changed once in use.
//
// Validators (ETag, Last-Modified), framing and hop-by-hop fields in Header
// are ignored; unless Header has its own Cache-Control, the response is not to
// be stored. A missing Content-Type is guessed from the body.
type Static struct {
	Status int // 200 to 599; zero means 503
	Header http.Header
	Body   []byte
}

var _ Provider = (*Static)(nil)

// Validate reports a status that cannot end a request, and a body under a
// status that has none.
func (s *Static) Validate() error {
	status := s.status()
	if status < http.StatusOK || status > 599 {
		return fmt.Errorf("fallback: status %d is not between 200 and 599", status)
	}
	if len(s.Body) > 0 && bodiless(status) {
		return errors.New("fallback: status " + strconv.Itoa(status) + " has no body")
	}
	return nil
}

// Fallback returns a new response on each call; nothing of it is shared but
// the bytes of the body, which are only read. It never fails.
func (s *Static) Fallback(context.Context, string, error) (*http.Response, error) {
	status := s.status()
	return &http.Response{
		Status:        strconv.Itoa(status) + " " + http.StatusText(status),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        s.header(status),
		Body:          io.NopCloser(bytes.NewReader(s.Body)),
		ContentLength: int64(len(s.Body)),
	}, nil
}

func (s *Static) status() int {
	if s.Status == 0 {
		return http.StatusServiceUnavailable
	}
	return s.Status
}

func (s *Static) header(status int) http.Header {
	h := make(http.Header, len(s.Header)+4)
	for name, values := range s.Header {
		name = http.CanonicalHeaderKey(name)
		if !Ignored(name) {
			h[name] = append(h[name], values...)
		}
	}
	h.Set(MarkHeader, "true")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	if !bodiless(status) {
		h.Set("Content-Length", strconv.Itoa(len(s.Body)))
	}
	if len(s.Body) > 0 && h.Get("Content-Type") == "" {
		h.Set("Content-Type", http.DetectContentType(s.Body))
	}
	return h
}

// Ignored reports whether a Static provider leaves a field out.
func Ignored(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Etag", "Last-Modified",
		"Content-Length", "Transfer-Encoding", "Trailer",
		"Connection", "Keep-Alive", "Upgrade", "Te", "Proxy-Connection":
		return true
	}
	return false
}

func bodiless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}
