package registry

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// form is how an answer is written.
type form struct {
	format  eureka.Format
	compact bool
	v1      bool
}

func (f form) encoder() eureka.Encoder {
	return eureka.Encoder{Format: f.format, Compact: f.compact, V1: f.v1}
}

// build encodes the answer to q as of now; it is expected to be of some size.
func (r *Registry) build(q question, size int) *answer {
	e := q.form.encoder()
	regions := r.regions.named(q.regions)
	switch q.kind {
	case askAll:
		return encoded(e, r.full(regions), size)
	case askDelta:
		return encoded(e, r.delta(regions, r.cache.deltas.Add(1)), size)
	case askVIP, askSecureVIP:
		return encoded(e, r.vip(q.name, q.kind == askSecureVIP), size)
	case askApp:
		if app, ok := r.app(q.name, regions); ok {
			return &answer{found: true, plain: e.AppendApplication(nil, &app)}
		}
	}
	return &answer{}
}

func encoded(e eureka.Encoder, apps *eureka.Applications, size int) *answer {
	return &answer{found: true, plain: slices.Clip(e.AppendApplications(make([]byte, 0, size), apps))}
}

// gzipped is the answer compressed.
func (a *answer) gzipped() []byte {
	a.zip.Do(func() {
		a.zipped = compress(a.plain)
		a.wanted.Store(true)
	})
	return a.zipped
}

// compress favours speed: lists are repetitive enough.
func compress(plain []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil
	}
	_, _ = z.Write(plain) // a buffer takes everything
	_ = z.Close()
	return bytes.Clone(b.Bytes())
}

// send answers with a body that may be sent compressed.
func (r *Registry) send(w http.ResponseWriter, req *http.Request, f form, a *answer) {
	r.unsent.begin(a)
	defer r.unsent.end(a)
	h := w.Header()
	body := a.plain
	h.Set("Content-Type", f.format.ContentType())
	h.Set("Vary", "Accept, Accept-Encoding, X-Eureka-Accept")
	if acceptsGzip(req.Header) {
		body = a.gzipped()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if req.Method != http.MethodHead {
		bound(w, body)
		_, _ = w.Write(body)
	}
}

// acceptsGzip looks for the word, as the original does, but takes a no for a no.
func acceptsGzip(h http.Header) bool {
	for _, v := range h["Accept-Encoding"] {
		for one := range strings.SplitSeq(v, ",") {
			if coding, weight, _ := strings.Cut(one, ";"); strings.Contains(coding, "gzip") && !isZero(weight) {
				return true
			}
		}
	}
	return false
}

// isZero reports whether a weight such as "q=0.0" rules something out.
func isZero(weight string) bool {
	q, found := strings.CutPrefix(strings.ToLower(strings.TrimSpace(weight)), "q=")
	n, err := strconv.ParseFloat(q, 64)
	return found && err == nil && n == 0
}

// formOf reads what the client would like (spec 1.3). False means that nothing it
// accepts can be had.
func formOf(h http.Header, v1 bool) (form, bool) {
	f := form{format: eureka.XML, v1: v1}
	accept := strings.Join(h["Accept"], ",")
	switch {
	case strings.Contains(accept, "json"):
		f = form{format: eureka.JSON} // versions differ in XML only
	case accept == "", strings.Contains(accept, "xml"), strings.Contains(accept, "*/*"), strings.Contains(accept, "application/*"):
	default:
		return f, false
	}
	f.compact = strings.EqualFold(h.Get("X-Eureka-Accept"), "compact")
	return f, true
}
