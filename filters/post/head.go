package post

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/headers"
)

const debugHeader = "X-Zuul-Debug-Header"

// sendHead sends the head, or returns an error and sends nothing.
func (f *sendResponse) sendHead(c *filters.Context, length int64) error {
	plain := len(c.Response.Trailer) == 0 && c.Response.Status != http.StatusUpgradeRequired && (!f.debugHeader || !c.Debugging())
	if w, able := c.Writer().(headSender); able && plain {
		if sent, err := w.SendHead(c.Response.Status, c.Response.Header, length); sent || err != nil {
			return err
		}
	}
	if err := checkFields(c.Response.Header); err != nil {
		return err
	}
	f.writeHead(c, length)
	return nil
}

// headSender is implemented by writers of package filters.
type headSender interface {
	SendHead(status int, header http.Header, length int64) (sent bool, err error)
}

func (f *sendResponse) writeHead(c *filters.Context, length int64) {
	dst := c.Writer().Header()
	required := c.Response.Header["Upgrade"]
	copyFields(dst, c.Response.Header)
	if c.Response.Status == http.StatusUpgradeRequired && len(required) > 0 && c.Request.ProtoMajor == 1 && c.Request.ProtoMinor > 0 {
		dst["Connection"], dst["Upgrade"] = []string{"Upgrade"}, required
	}
	if _, typed := dst["Content-Type"]; !typed {
		dst["Content-Type"] = nil // keeps net/http from guessing one
	}
	if length >= 0 {
		dst["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	} else {
		announceTrailers(c)
	}
	if f.debugHeader && c.Debugging() {
		dst[debugHeader] = []string{debugValue(c.DebugLines())}
	}
	c.Writer().WriteHeader(c.Response.Status)
}

// copyFields adds src to dst, which may hold fields of the front door already.
// What a filter has set about framing or the connection is not for filters to
// say and is left out.
func copyFields(dst, src http.Header) {
	headers.Strip(src)
	for name, values := range src {
		if own := dst[name]; len(own) > 0 {
			values = append(slices.Clip(own), values...)
		}
		dst[name] = values
	}
}

// announcedLength returns the Content-Length to send, -1 for none. A response
// to HEAD announces the length of a body that is not sent, and so may a 304.
func announcedLength(method string, res *filters.Response) int64 {
	switch {
	case res.Status == http.StatusNoContent:
		return -1
	case res.Status == http.StatusNotModified && res.ContentLength == 0:
		return -1 // what net/http's client says of every 304
	case res.Body == nil && method != http.MethodHead:
		return 0
	}
	return res.ContentLength
}

// checkFields refuses fields that would end early on the wire and let their
// author write a response of his own.
func checkFields(h http.Header) error {
	for name, values := range h {
		if err := headers.Check(name, values); err != nil {
			return fmt.Errorf("post: response: %w", err)
		}
	}
	return nil
}

// debugValue puts all lines into one field value (zuul.md 1.5).
func debugValue(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("[[[" + strings.Map(visible, line) + "]]]")
	}
	return b.String()
}

func visible(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}
