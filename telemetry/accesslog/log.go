package accesslog

import (
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
)

// The formats.
const (
	JSON     = "json"
	Combined = "combined" // Apache's, nginx's and Tomcat's
	Common   = "common"
	Pattern  = "pattern"
)

const (
	commonPattern   = `%h %l %u %t "%r" %s %b`
	combinedPattern = commonPattern + ` "%{Referer}i" "%{User-Agent}i"`
)

// Settings say what a line holds.
type Settings struct {
	// Format is one of the above, Pattern that of Format Pattern.
	Format, Pattern string
	// RequestHeaders and ResponseHeaders are added to the JSON lines, by their names.
	RequestHeaders, ResponseHeaders []string
	// MaskedParameters are query parameters whose values are hidden.
	MaskedParameters []string
	// MaxField is the longest text of a request that is shown, in bytes; what is longer is
	// cut.
	MaxField int

	// Cause says in a word why a request has failed. Nil: the lines do not say it.
	Cause func(*filters.Context) string
	// Trace gives the ids of the trace and the span, empty for none. Nil: there are none.
	Trace func(*filters.Context) (trace, span string)
}

// Log makes the lines. It is a [filters.Observer], used from any goroutine.
type Log struct {
	Settings
	masked  masked
	ciphers map[uint16]string
	line    func(dst []byte, e *entry) []byte
	writer  *Writer
	entries sync.Pool
}

var _ filters.Observer = (*Log)(nil)

// New compiles the settings into a log whose lines go to w. The error is about the
// pattern.
func New(s Settings, w *Writer) (*Log, error) {
	l := &Log{Settings: s, masked: masked(s.MaskedParameters), ciphers: cipherNames(), writer: w}
	l.entries.New = func() any { return &entry{log: l} }
	switch s.Format {
	case JSON:
		l.line = jsonLine(shownHeaders(s.RequestHeaders), shownHeaders(s.ResponseHeaders))
		return l, nil
	case Combined:
		s.Pattern = combinedPattern
	case Common:
		s.Pattern = commonPattern
	case Pattern:
	default:
		return nil, fmt.Errorf("accesslog: %q is no format", s.Format)
	}
	parts, err := parsePattern(s.Pattern)
	l.line = patternLine(parts)
	return l, err
}

// shownHeader is a header field of a line.
type shownHeader struct {
	name   string // canonical
	secret bool
}

func shown(name string) shownHeader {
	name = http.CanonicalHeaderKey(name)
	return shownHeader{name, secretHeader(name)}
}

func shownHeaders(names []string) []shownHeader {
	all := make([]shownHeader, len(names))
	for i, name := range names {
		all[i] = shown(name)
	}
	return all
}

// Begin does nothing.
func (l *Log) Begin(*filters.Context) {}

// End writes the line of a request.
func (l *Log) End(c *filters.Context) {
	e := l.entries.Get().(*entry)
	e.Context, e.account, e.origin = c, c.Account(), c.Origin()
	l.write(e)
}

// Refused writes the line of a message that the server refused by itself, of which
// nothing is known but whom it came from.
func (l *Log) Refused(why Refusal) {
	r := &http.Request{Header: http.Header{}, URL: &url.URL{}, RemoteAddr: why.Remote}
	c := filters.NewContext(answered{why.Header}, r, routing.Path{}, time.Now())
	c.Writer().WriteHeader(why.Status)
	e := l.entries.Get().(*entry)
	e.Context, e.origin.Addr, e.refused, e.account.BytesOut = c, c.Origin().Addr, why.Reason, why.BytesOut
	l.write(e)
}

// Refusal is an answer of the server's own.
type Refusal struct {
	Remote   string
	Status   int
	Header   http.Header
	BytesOut int64 // of the body
	Reason   string
}

// answered is the client of a request that has been answered elsewhere.
type answered struct{ header http.Header }

func (a answered) Header() http.Header       { return a.header }
func (answered) Write(p []byte) (int, error) { return len(p), nil }
func (answered) WriteHeader(int)             {}

func (l *Log) write(e *entry) {
	e.line = append(l.line(e.line[:0], e), '\n')
	l.writer.Write(e.line)
	e.Context, e.account, e.origin, e.refused = nil, filters.Account{}, filters.Origin{}, ""
	l.entries.Put(e)
}
