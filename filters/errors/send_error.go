package errorfilter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// AllowedMethods is what Allow says when the gateway itself is asked. Other
// methods are passed on too, CONNECT and TRACE excepted.
const AllowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// Settings configure SendError. The zero value is the default.
type Settings struct {
	// Mapping chooses the status.
	Mapping Mapping

	// IncludeMessage is server.error.include-message: "always" (also when
	// empty), "never", or "on-param" for requests with the query parameter
	// "message".
	IncludeMessage string

	// Meter counts answered failures; nil counts none.
	Meter *filters.Meter
}

// SendError returns the filter that answers a failed request with Spring's
// error body, as JSON or, for browsers, as a page (zuul.md 8). It answers a
// request once. When the head of another answer has left already, or the
// client has gone, it cuts the connection instead.
func SendError(s Settings) filters.Spec {
	return filters.Instance("SendErrorFilter", filters.Error, 0, &sendError{
		settings: s,
		ran:      filters.NewKey[bool]("sendErrorFilter.ran"),
	})
}

type sendError struct {
	settings Settings
	ran      *filters.Key[bool]
}

var _ filters.Filter = (*sendError)(nil)

func (f *sendError) ShouldFilter(c *filters.Context) bool {
	ran, _ := f.ran.Get(c)
	return c.Err != nil && !ran
}

func (f *sendError) Run(c *filters.Context) error {
	f.ran.Set(c, true)
	call := c.IsCall()
	mapping := f.settings.Mapping
	if call {
		mapping = Mapping{} // Zuul had no calls
	}
	answer := mapping.Answer(c)
	if answer.Status == 0 {
		c.Abort()
		return nil
	}
	f.count(c, answer)
	switch {
	case c.Committed() && !c.EndsInTrailer():
		c.Abort()
	case c.Committed():
		breakOff(c)
	case call:
		f.sendStatus(c, answer)
	default:
		f.send(c, answer)
	}
	return nil
}

// count counts a failure under its cause, and the failure of a call once more
// under the filter that made it, as Zuul does (zuul.md 1.3).
func (f *sendError) count(c *filters.Context, answer Answer) {
	if f.settings.Meter == nil {
		return
	}
	f.settings.Meter.CountError(answer.Cause, answer.Status)
	filter, ok := errors.AsType[*filters.FilterError](c.Err)
	if ok && isCall(c.Err) && filter.Cause() != answer.Cause {
		f.settings.Meter.CountError(filter.Cause(), answer.Status)
	}
}

func isCall(err error) bool {
	_, command := errors.AsType[*ribboncmd.Error](err)
	_, call := errors.AsType[*lb.Error](err)
	return command || call
}

// send writes the answer. A response to HEAD has the fields of the one to GET.
func (f *sendError) send(c *filters.Context, answer Answer) {
	w := c.Writer()
	addFields(w.Header(), c.Err)
	if answer.Status == http.StatusMethodNotAllowed && len(w.Header()["Allow"]) == 0 {
		w.Header().Set("Allow", AllowedMethods)
	}
	if answer.Status == http.StatusRequestTimeout {
		w.Header().Set("Connection", "close") // RFC 9110 15.5.9
		defer abandonBody(w)
	}
	if answer.Status == http.StatusNoContent || answer.Status == http.StatusNotModified {
		w.WriteHeader(answer.Status)
		return
	}
	contentType, content := f.body(c, answer)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(answer.Status)
	if c.Request.Method != http.MethodHead {
		_, _ = w.Write(content) // the client's loss: there is nothing else to tell
	}
}

// abandonBody sends the answer at once and waits for no more of the request.
func abandonBody(w http.ResponseWriter) {
	client := http.NewResponseController(w)
	_ = client.Flush() // as with the next call: without a connection there is nothing to wait for
	_ = client.SetReadDeadline(time.Now())
}

// withFields is an error that brings fields for its answer, such as Allow,
// Retry-After or WWW-Authenticate.
type withFields interface {
	error
	ResponseHeader() http.Header
}

func addFields(dst http.Header, err error) {
	e, ok := errors.AsType[withFields](err)
	if !ok {
		return
	}
	for name, values := range e.ResponseHeader() {
		for _, v := range values {
			if !strings.ContainsAny(name+v, "\r\n\x00") {
				dst.Add(name, v)
			}
		}
	}
}
