package eureka

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
)

// Format is how a document is written. The zero value is JSON.
type Format uint8

// The formats.
const (
	JSON Format = iota
	XML
)

// ContentType is the media type of the format.
func (f Format) ContentType() string {
	if f == XML {
		return "application/xml"
	}
	return "application/json"
}

func (f Format) String() string {
	if f == XML {
		return "XML"
	}
	return "JSON"
}

// Why a document was not taken. The errors of a [Decoder] wrap one of these or the
// error of the reader.
var (
	// ErrMalformed is a document that breaks its format or the protocol.
	ErrMalformed = errors.New("eureka: malformed document")
	// ErrTooLarge is a document over one of the [Limits].
	ErrTooLarge = errors.New("eureka: document over its limit")
	// ErrMediaType is a Content-Type or Content-Encoding that is not spoken.
	ErrMediaType = errors.New("eureka: unsupported media type")
)

// Limits bound what one document may hold. A zero field means its default.
type Limits struct {
	Bytes     int64 // unpacked; 64 MiB
	Depth     int   // of nested values, also of those passed over; 32
	Instances int   // and, apart from them, applications or items of a batch; 100,000
	Metadata  int   // entries of one instance; 1,000
}

func (l Limits) filled() Limits {
	return Limits{
		Bytes:     cmp.Or(l.Bytes, 64<<20),
		Depth:     cmp.Or(l.Depth, 32),
		Instances: cmp.Or(l.Instances, 100_000),
		Metadata:  cmp.Or(l.Metadata, 1000),
	}
}

// Decoder reads documents, one per call, as tolerantly as section 2.5 says: what is
// unknown is passed over, what has an odd type is understood or counts as absent. It is
// a value and may be used from any goroutine. The reader is read to its end or to the
// first error, never past the limits.
type Decoder struct {
	Format Format
	Limits Limits
}

// Instance reads a registration. Unlike in a list, an instance without an application,
// or one with a data centre or a port that is none, is an error.
func (d Decoder) Instance(r io.Reader) (*Instance, error) {
	if d.Format == XML {
		return newXMLDecoder(r, d.Limits).instanceDocument()
	}
	return newJSONDecoder(r, d.Limits).instanceDocument()
}

// Application reads one application.
func (d Decoder) Application(r io.Reader) (*Application, error) {
	if d.Format == XML {
		return newXMLDecoder(r, d.Limits).applicationDocument()
	}
	return newJSONDecoder(r, d.Limits).applicationDocument()
}

// Applications reads a full list or a delta. A document that is no list, such as
// "{}", is an error, never an empty list.
func (d Decoder) Applications(r io.Reader) (*Applications, error) {
	if d.Format == XML {
		return newXMLDecoder(r, d.Limits).applicationsDocument()
	}
	return newJSONDecoder(r, d.Limits).applicationsDocument()
}

// Encoder writes documents exactly as sections 2.2 to 2.4 have them, on one line and
// with sorted metadata, so that equal values give equal bytes. It is a value and may be
// used from any goroutine.
type Encoder struct {
	Format Format
	// Compact leaves out what section 2.3 does not list.
	Compact bool
	// V1 shows OUT_OF_SERVICE and UNKNOWN as DOWN in XML (section 1.1).
	V1 bool
}

// AppendInstance appends the document of one instance; always a full one, as
// registries answer it.
func (e Encoder) AppendInstance(b []byte, i *Instance) []byte {
	e.Compact = false
	if e.Format == XML {
		o := &xmlOutput{b}
		e.xmlInstance(o, i)
		return o.b
	}
	o := &jsonOutput{b: append(b, `{"instance":`...)}
	o.instance(i, false)
	return append(o.b, '}')
}

// AppendApplication appends the document of one application.
func (e Encoder) AppendApplication(b []byte, a *Application) []byte {
	if e.Format == XML {
		o := &xmlOutput{b}
		e.xmlApplication(o, a)
		return o.b
	}
	o := &jsonOutput{b: append(b, `{"application":`...)}
	o.application(a, e.Compact)
	return append(o.b, '}')
}

// AppendApplications appends the document of a list.
func (e Encoder) AppendApplications(b []byte, a *Applications) []byte {
	b, _ = e.applications(b, a, func(b []byte) ([]byte, error) { return b, nil }) // which does not fail
	return b
}

// WriteApplications writes the document of a list in pieces of about 32 KiB, for
// lists that should not be in memory twice.
func (e Encoder) WriteApplications(w io.Writer, a *Applications) error {
	const piece = 32 << 10
	rest, err := e.applications(make([]byte, 0, piece+piece/4), a, func(b []byte) ([]byte, error) {
		if len(b) < piece {
			return b, nil
		}
		_, err := w.Write(b)
		return b[:0], err
	})
	if err == nil {
		_, err = w.Write(rest)
	}
	return err
}

// applications calls flush after each application.
func (e Encoder) applications(b []byte, a *Applications, flush func([]byte) ([]byte, error)) ([]byte, error) {
	if e.Format == XML {
		return e.xmlApplications(b, a, flush)
	}
	return e.jsonApplications(b, a, flush)
}

// FormatOf tells the format of a body by its Content-Type; none, or a wildcard, means XML
// as with the original. Charsets other than UTF-8 and ISO-8859-1 are refused; what is
// labelled as the latter is read as UTF-8 nonetheless, as the original does.
func FormatOf(contentType string) (Format, error) {
	if contentType == "" {
		return XML, nil
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return 0, fmt.Errorf("%w: Content-Type %.80q", ErrMediaType, contentType)
	}
	switch strings.ToLower(parameters["charset"]) {
	case "", "utf-8", "utf8", "iso-8859-1":
	default:
		return 0, fmt.Errorf("%w: charset %.80q", ErrMediaType, parameters["charset"])
	}
	switch media {
	case "application/json":
		return JSON, nil
	case "application/xml", "*/*", "application/*":
		return XML, nil
	}
	return 0, fmt.Errorf("%w: Content-Type %.80q", ErrMediaType, media)
}

// Unpacked gives a body without its Content-Encoding, which may be gzip or none. The
// limits of the decoder that reads it bound what comes out.
func Unpacked(r io.Reader, contentEncoding string) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(contentEncoding)) {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("%w: gzip: %w", ErrMalformed, err)
		}
		return z, nil
	}
	return nil, fmt.Errorf("%w: Content-Encoding %.80q", ErrMediaType, contentEncoding)
}
