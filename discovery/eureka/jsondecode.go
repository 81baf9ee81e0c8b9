package eureka

import (
	"fmt"
	"io"
	"strings"
)

// jsonDecoder reads one document.
type jsonDecoder struct {
	*jsonReader
	shared *shared
}

func newJSONDecoder(src io.Reader, l Limits) *jsonDecoder {
	s := newShared(l)
	return &jsonDecoder{newJSONReader(src, s.limits), s}
}

// document reads the value of the root's member name and passes over the others.
func (d *jsonDecoder) document(name string, value func()) error {
	found := false
	if d.next() != '{' {
		d.fail("expected an object")
	}
	d.object(func(key []byte) {
		if string(key) != name || found {
			d.skip()
			return
		}
		found = true
		value()
	})
	d.finish()
	if !found {
		d.fail("there is no %q", name)
	}
	return d.err
}

func (d *jsonDecoder) instanceDocument() (i *Instance, err error) {
	var problem error
	err = d.document("instance", func() {
		if draft := d.instance(); draft != nil {
			i, problem = draft.finishStrictly()
			return
		}
		d.fail("the instance is no object")
	})
	if err == nil {
		err = problem
	}
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (d *jsonDecoder) applicationDocument() (*Application, error) {
	a := &Application{}
	err := d.document("application", func() {
		if d.next() != '{' {
			d.fail("the application is no object")
		}
		d.application(a)
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (d *jsonDecoder) applicationsDocument() (*Applications, error) {
	a := &Applications{VersionsDelta: -1}
	known := false
	err := d.document("applications", func() {
		if d.next() != '{' {
			d.fail("applications is no object")
		}
		d.object(func(key []byte) { known = d.listMember(a, string(key)) || known })
		if !known {
			d.fail("applications says nothing")
		}
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// listMember reads a member of a list, and reports whether it is one that makes a list.
func (d *jsonDecoder) listMember(a *Applications, key string) bool {
	switch {
	case key == "application":
		d.oneOrMore(func() {
			d.count(&d.shared.entries)
			a.Applications = append(a.Applications, Application{})
			d.application(&a.Applications[len(a.Applications)-1])
		})
	case strings.HasPrefix(key, "version"):
		if text, ok := d.scalar(); ok {
			a.VersionsDelta, _ = wholeNumber(text)
		}
	case strings.HasPrefix(key, "apps"):
		if text, ok := d.scalar(); ok {
			a.HashCode, a.HasHash = d.shared.text(text), true
		}
	default:
		d.skip()
		return false
	}
	return true
}

// oneOrMore reads an array of objects, or a single one as old servers write it. What
// is neither counts as nothing.
func (d *jsonDecoder) oneOrMore(object func()) {
	element := func() {
		if d.next() == '{' {
			object()
			return
		}
		d.skip()
	}
	if d.next() == '[' {
		d.array(element)
		return
	}
	element()
}

func (d *jsonDecoder) count(n *int) {
	if *n++; *n > d.shared.limits.Instances && d.err == nil {
		d.err = fmt.Errorf("%w: more than %d entries", ErrTooLarge, d.shared.limits.Instances)
	}
}

func (d *jsonDecoder) application(a *Application) {
	d.object(func(key []byte) {
		switch string(key) {
		case "name":
			if text, ok := d.scalar(); ok {
				a.Name = d.shared.text(text)
			}
		case "instance":
			d.oneOrMore(func() { a.Instances = append(a.Instances, d.instance().finish()) })
		default:
			d.skip()
		}
	})
	a.complete()
}

// complete names the application of instances that do not.
func (a *Application) complete() {
	for _, i := range a.Instances {
		if i.App == "" {
			i.App = strings.ToUpper(a.Name)
		}
	}
}

// instance reads an instance, nil if the value is no object.
func (d *jsonDecoder) instance() *draft {
	if d.next() != '{' {
		d.skip()
		return nil
	}
	d.count(&d.shared.instances)
	i := newDraft(d.shared)
	d.object(func(key []byte) { d.instanceMember(i, key) })
	return i
}

func (d *jsonDecoder) instanceMember(i *draft, key []byte) {
	switch string(key) {
	case "port":
		d.port(i, &i.Port)
	case "securePort":
		d.port(i, &i.SecurePort)
	case "dataCenterInfo":
		d.dataCenter(i)
	case "leaseInfo":
		if d.next() != '{' {
			d.skip()
			return
		}
		d.object(func(key []byte) {
			field := d.shared.text(key)
			if text, ok := d.scalar(); ok {
				i.setLease(field, text)
			}
		})
		i.endLease()
	case "metadata":
		d.metadata(i, &i.Metadata)
	default:
		field := d.shared.text(key)
		if text, ok := d.scalar(); ok {
			i.set(field, text)
		}
	}
}

// port reads {"$":8080,"@enabled":"true"}, or a plain number.
func (d *jsonDecoder) port(i *draft, p *Port) {
	if d.next() != '{' {
		if text, ok := d.scalar(); ok {
			i.setPort(p, text)
			p.Enabled = true
		}
		return
	}
	quoted, bare := false, false
	d.object(func(key []byte) {
		field := string(key)
		isText := d.next() == '"'
		text, ok := d.scalar()
		switch {
		case ok && field == "$":
			i.setPort(p, text)
			quoted = isText
		case ok && field == "@enabled":
			p.Enabled = isTrue(text)
			bare = !isText
		}
	})
	i.old = i.old || quoted && bare // only the codec of old servers writes the two like this
}

func (d *jsonDecoder) dataCenter(i *draft) {
	if d.next() != '{' {
		d.skip()
		return
	}
	d.object(func(key []byte) {
		switch string(key) {
		case "@class":
			if text, ok := d.scalar(); ok {
				i.DataCenter.Class = d.shared.text(text)
			}
		case "name":
			if text, ok := d.scalar(); ok {
				i.DataCenter.Name = d.shared.text(text)
			}
		case "metadata":
			d.metadata(i, &i.amazon)
		default:
			d.skip()
		}
	})
	i.endDataCenter()
}

// metadata reads texts by name; what is no text, number or boolean is passed over, and
// so is the Java class.
func (d *jsonDecoder) metadata(i *draft, into *map[string]string) {
	if d.next() != '{' {
		d.skip()
		return
	}
	d.object(func(key []byte) {
		name := d.shared.text(key)
		text, ok := d.scalar()
		if ok && name != "@class" && !i.addMetadata(into, name, text) && d.err == nil {
			d.err = fmt.Errorf("%w: more than %d entries of metadata", ErrTooLarge, d.shared.limits.Metadata)
		}
	})
}
