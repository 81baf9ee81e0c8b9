package errorfilter

import (
	"net/http"
	"strings"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/errorbody"
)

func (f *sendError) body(c *filters.Context, answer Answer) (contentType string, content []byte) {
	r := c.Request
	body := errorbody.New(answer.Status, f.message(r, answer), r.URL.EscapedPath())
	body.RequestID = c.RequestID
	if prefersHTML(r.Header["Accept"]) {
		return "text/html;charset=UTF-8", body.HTML()
	}
	return "application/json", body.JSON()
}

func (f *sendError) message(r *http.Request, answer Answer) string {
	switch {
	case f.settings.IncludeMessage == "never":
		return ""
	case f.settings.IncludeMessage == "on-param" && !asked(r, "message"):
		return ""
	case answer.Cause == "":
		return "No message available"
	}
	return answer.Cause
}

// asked reports whether the query has a parameter that is not "false".
func asked(r *http.Request, parameter string) bool {
	values, ok := r.URL.Query()[parameter]
	return ok && !strings.EqualFold(values[0], "false")
}
