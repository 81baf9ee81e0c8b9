// Package errorbody writes the error body that clients of Spring know, as JSON
// and as a page (zuul.md 8.4).
package errorbody

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"time"
)

// Body is one error answer. The JSON fields come in this order.
type Body struct {
	Timestamp string `json:"timestamp"`
	Status    int    `json:"status"`
	Error     string `json:"error"`
	Message   string `json:"message"`
	Path      string `json:"path"`
	RequestID string `json:"requestId,omitempty"` // as Spring's WebFlux calls it
}

// New describes a failure that happens now. path is the request's, without its
// query, which may hold secrets.
func New(status int, message, path string) Body {
	return Body{
		Timestamp: time.Now().UTC().Format("2006-01-02T15:04:05.000-0700"),
		Status:    status,
		Error:     reason(status),
		Message:   message,
		Path:      path,
	}
}

func reason(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "Http Status " + strconv.Itoa(status)
}

// JSON returns the body for programs; its type is application/json.
func (b Body) JSON() []byte {
	text, _ := json.Marshal(b) // strings and a number always encode
	return text
}

const page = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>%[1]d %[2]s</title></head>
<body>
<h1>%[1]d %[2]s</h1>
<p>%[3]s</p>
<p><code>%[4]s</code>, %[5]s%[6]s</p>
</body>
</html>
`

// HTML returns the body for browsers; its type is text/html;charset=UTF-8.
func (b Body) HTML() []byte {
	request := ""
	if b.RequestID != "" {
		request = ", request " + html.EscapeString(b.RequestID)
	}
	return fmt.Appendf(nil, page, b.Status, html.EscapeString(b.Error),
		html.EscapeString(b.Message), html.EscapeString(b.Path), b.Timestamp, request)
}
