package rest

import "strings"

// Encoding says what of a URI template and its variables is percent-encoded. The names
// are those of Spring's DefaultUriBuilderFactory.
type Encoding uint8

const (
	// TemplateAndValues encodes in the template what its place in a URI does not allow,
	// and in a variable everything but letters, digits and "-._~", so that a variable can
	// never act as a delimiter. It is the default here and of DefaultUriBuilderFactory.
	TemplateAndValues Encoding = iota
	// URIComponent puts the variables in first and encodes what is not allowed in a path
	// segment or in a query parameter: "+", ";" and others stay as they are in a variable.
	// RestTemplate does this unless told otherwise.
	URIComponent
	// ValuesOnly leaves the template alone and encodes variables as TemplateAndValues does.
	ValuesOnly
	// NoEncoding leaves everything alone.
	NoEncoding
)

// component is a part of a URI with characters of its own.
type component uint8

const (
	schemePart component = iota
	authorityPart
	pathPart
	parameterPart // name or value
	fragmentPart
	segmentPart // what a variable in the path may be
)

const (
	subDelimiters = "!$&'()*+,;="
	hexDigits     = "0123456789ABCDEF"
)

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// allows tells whether the byte may stand in that part of a URI (RFC 3986, appendix A;
// in a parameter "=" and "&" are delimiters).
func (p component) allows(c byte) bool {
	if unreserved(c) {
		return true
	}
	switch p {
	case schemePart:
		return c == '+'
	case authorityPart:
		return strings.IndexByte(subDelimiters+":@[]", c) >= 0
	case pathPart:
		return strings.IndexByte(subDelimiters+":@/", c) >= 0
	case segmentPart:
		return strings.IndexByte(subDelimiters+":@", c) >= 0
	case parameterPart:
		return c != '=' && c != '&' && strings.IndexByte(subDelimiters+":@/?", c) >= 0
	case fragmentPart:
		return strings.IndexByte(subDelimiters+":@/?", c) >= 0
	}
	return false
}

func escape(b *strings.Builder, text string, keep func(byte) bool) {
	for i := range len(text) {
		c := text[i]
		if keep(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
}

// literal writes text of the template.
func (e Encoding) literal(b *strings.Builder, text string, part component) {
	if e == TemplateAndValues || e == URIComponent {
		escape(b, text, part.allows)
		return
	}
	b.WriteString(text)
}

// variable writes a value.
func (e Encoding) variable(b *strings.Builder, value string, part component) {
	switch {
	case e == NoEncoding && part != authorityPart && part != schemePart:
		b.WriteString(value)
	case e == URIComponent && part == pathPart:
		escape(b, value, segmentPart.allows)
	case e == URIComponent && part != authorityPart:
		escape(b, value, part.allows)
	default:
		escape(b, value, unreserved)
	}
}
