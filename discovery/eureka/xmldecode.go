package eureka

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// xmlDecoder reads one document. After the first error, which stays in err, every
// method returns at once.
type xmlDecoder struct {
	tokens *xml.Decoder
	shared *shared
	deep   int // nesting that is left
	err    error
}

func newXMLDecoder(src io.Reader, l Limits) *xmlDecoder {
	s := newShared(l)
	d := &xmlDecoder{tokens: xml.NewDecoder(&limitedReader{src, s.limits.Bytes}), shared: s, deep: s.limits.Depth}
	d.tokens.CharsetReader = charset
	return d
}

// limitedReader fails when there is more to read than left.
type limitedReader struct {
	src  io.Reader
	left int64
}

func (r *limitedReader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, fmt.Errorf("%w: too many bytes", ErrTooLarge)
	}
	return n, err
}

// charset knows the two that the protocol allows, besides UTF-8.
func charset(label string, input io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii":
		return input, nil
	case "iso-8859-1":
		return &latin1{src: input}, nil
	}
	return nil, fmt.Errorf("encoding %.40q is not supported", label)
}

// latin1 makes UTF-8 of ISO-8859-1.
type latin1 struct {
	src  io.Reader
	in   [512]byte
	rest []byte
}

func (l *latin1) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		n, err := l.src.Read(l.in[:])
		if n == 0 {
			return 0, err
		}
		for _, c := range l.in[:n] {
			l.rest = append(l.rest, string(rune(c))...)
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (d *xmlDecoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: XML: %s at byte %d", ErrMalformed, fmt.Sprintf(format, args...), d.tokens.InputOffset())
	}
}

// token gives the next token, nil at the end and after an error. A document type is
// refused, so that nobody declares entities.
func (d *xmlDecoder) token() xml.Token {
	if d.err != nil {
		return nil
	}
	t, err := d.tokens.Token()
	switch {
	case err == io.EOF: //nolint:errorlint // documented to be returned as it is
		return nil
	case err != nil:
		d.err = d.wrap(err)
		return nil
	}
	if _, ok := t.(xml.Directive); ok {
		d.fail("document types are not supported")
		return nil
	}
	return t
}

func (d *xmlDecoder) wrap(err error) error {
	if syntax, ok := err.(*xml.SyntaxError); ok { //nolint:errorlint // comes as it is
		return fmt.Errorf("%w: XML: %s at byte %d", ErrMalformed, syntax.Msg, d.tokens.InputOffset())
	}
	if strings.HasPrefix(err.Error(), "xml:") {
		return fmt.Errorf("%w: %s", ErrMalformed, err.Error())
	}
	return fmt.Errorf("eureka: reading XML: %w", err)
}

// document reads the root element, which must have that name.
func (d *xmlDecoder) document(name string, content func()) error {
	found := false
	for d.err == nil {
		t := d.token()
		if t == nil {
			break
		}
		if start, ok := t.(xml.StartElement); ok {
			if found || start.Name.Local != name {
				d.fail("expected the element %q alone", name)
				break
			}
			found = true
			content()
		}
	}
	if !found {
		d.fail("there is no element %q", name)
	}
	return d.err
}

// children calls each for every element up to the end of the current one; each must
// read it to its end.
func (d *xmlDecoder) children(each func(name string, attrs []xml.Attr)) {
	d.content(each, func(xml.CharData) {})
}

// content calls text for the character data too.
func (d *xmlDecoder) content(each func(name string, attrs []xml.Attr), text func(xml.CharData)) {
	if d.deep--; d.deep < 0 && d.err == nil {
		d.err = fmt.Errorf("%w: nested too deep at byte %d", ErrTooLarge, d.tokens.InputOffset())
	}
	for d.err == nil {
		switch t := d.token().(type) {
		case xml.StartElement:
			each(t.Name.Local, t.Attr)
		case xml.CharData:
			text(t)
		case xml.EndElement:
			d.deep++
			return
		case nil:
			d.fail("ends within an element")
		}
	}
}

func (d *xmlDecoder) skip() { d.children(func(string, []xml.Attr) { d.skip() }) }

// text reads the character data of the current element and passes over elements in it.
func (d *xmlDecoder) text() []byte {
	var all []byte
	d.content(func(string, []xml.Attr) { d.skip() }, func(piece xml.CharData) { all = append(all, piece...) })
	return all
}

func (d *xmlDecoder) instanceDocument() (i *Instance, err error) {
	var problem error
	err = d.document("instance", func() { i, problem = d.instance().finishStrictly() })
	if err == nil {
		err = problem
	}
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (d *xmlDecoder) applicationDocument() (*Application, error) {
	a := &Application{}
	if err := d.document("application", func() { d.application(a) }); err != nil {
		return nil, err
	}
	return a, nil
}

func (d *xmlDecoder) applicationsDocument() (*Applications, error) {
	a := &Applications{VersionsDelta: -1}
	err := d.document("applications", func() {
		d.children(func(name string, _ []xml.Attr) { d.listMember(a, name) })
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (d *xmlDecoder) listMember(a *Applications, name string) {
	switch {
	case name == "application":
		d.count(&d.shared.entries)
		a.Applications = append(a.Applications, Application{})
		d.application(&a.Applications[len(a.Applications)-1])
	case strings.HasPrefix(name, "version"):
		a.VersionsDelta, _ = wholeNumber(d.text())
	case strings.HasPrefix(name, "apps"):
		a.HashCode, a.HasHash = d.shared.text(d.text()), true
	default:
		d.skip()
	}
}

func (d *xmlDecoder) count(n *int) {
	if *n++; *n > d.shared.limits.Instances && d.err == nil {
		d.err = fmt.Errorf("%w: more than %d entries", ErrTooLarge, d.shared.limits.Instances)
	}
}

func (d *xmlDecoder) application(a *Application) {
	d.children(func(name string, _ []xml.Attr) {
		switch name {
		case "name":
			a.Name = d.shared.text(d.text())
		case "instance":
			a.Instances = append(a.Instances, d.instance().finish())
		default:
			d.skip()
		}
	})
	a.complete()
}

func (d *xmlDecoder) instance() *draft {
	d.count(&d.shared.instances)
	i := newDraft(d.shared)
	d.children(func(name string, attrs []xml.Attr) { d.instanceMember(i, name, attrs) })
	return i
}

func (d *xmlDecoder) instanceMember(i *draft, name string, attrs []xml.Attr) {
	switch name {
	case "port":
		i.Port.Enabled = !strings.EqualFold(attribute(attrs, "enabled"), "false")
		i.setPort(&i.Port, d.text())
	case "securePort":
		i.SecurePort.Enabled = strings.EqualFold(attribute(attrs, "enabled"), "true")
		i.setPort(&i.SecurePort, d.text())
	case "dataCenterInfo":
		d.dataCenter(i)
	case "leaseInfo":
		d.children(func(field string, _ []xml.Attr) { i.setLease(field, d.text()) })
		i.endLease()
	case "metadata":
		d.metadata(i, &i.Metadata)
	case "status", "overriddenstatus", "overriddenStatus":
		i.set(name, bytes.ToUpper(d.text()))
	default:
		i.set(name, d.text())
	}
}

func attribute(attrs []xml.Attr, name string) string {
	for _, a := range attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// dataCenter goes by the name; the class says nothing here.
func (d *xmlDecoder) dataCenter(i *draft) {
	d.children(func(name string, _ []xml.Attr) {
		switch name {
		case "name":
			i.DataCenter.Name = d.shared.text(d.text())
		case "metadata":
			d.metadata(i, &i.amazon)
		default:
			d.skip()
		}
	})
	i.endDataCenter()
}

func (d *xmlDecoder) metadata(i *draft, into *map[string]string) {
	d.children(func(name string, _ []xml.Attr) {
		if !i.addMetadata(into, d.shared.text([]byte(unescapeName(name))), d.text()) && d.err == nil {
			d.err = fmt.Errorf("%w: more than %d entries of metadata", ErrTooLarge, d.shared.limits.Metadata)
		}
	})
}
