package forwarded

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// Element is what one proxy says in Forwarded (RFC 7239 4) of the hop before it.
// What is not said is empty; parameters of other names are not looked at.
type Element struct {
	For, By, Host, Proto string
}

// Parse reads the lines of Forwarded. It returns false if anything in them is not
// as RFC 7239 has it, a parameter that comes twice included: then it cannot be
// told what a proxy has added to what its client had sent. Values that ought to
// be quoted and are not, such as those of ports, are read all the same.
func Parse(lines []string) (elements []Element, ok bool) {
	for _, line := range lines {
		for rest := line; rest != ""; {
			var e Element
			var pairs int
			if e, pairs, rest, ok = parseElement(rest); !ok {
				return nil, false
			}
			if pairs > 0 {
				elements = append(elements, e)
			}
		}
	}
	return elements, true
}

// parseElement reads up to a comma, which it consumes, or the end.
func parseElement(s string) (e Element, pairs int, rest string, ok bool) {
	var seen []string
	for {
		s = strings.TrimLeft(s, " \t")
		switch {
		case s == "":
			return e, len(seen), "", true
		case s[0] == ',':
			return e, len(seen), s[1:], true
		case s[0] == ';':
			s = s[1:]
			continue
		}
		name, after, found := strings.Cut(s, "=")
		value, left, good := parseValue(after)
		name = strings.ToLower(name)
		if !found || !good || !headers.IsToken(name) || slices.Contains(seen, name) {
			return e, 0, "", false
		}
		seen = append(seen, name)
		e.set(name, value)
		if s = strings.TrimLeft(left, " \t"); s != "" && s[0] != ',' && s[0] != ';' {
			return e, 0, "", false
		}
	}
}

func (e *Element) set(name, value string) {
	switch name {
	case "for":
		e.For = value
	case "by":
		e.By = value
	case "host":
		e.Host = value
	case "proto":
		e.Proto = value
	}
}

// parseValue reads a token or a quoted string.
func parseValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ";, \t\"")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], end > 0
	}
	var text strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return text.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
		}
		text.WriteByte(s[i])
	}
	return "", "", false
}

// WalkElements is Walk for Forwarded. It returns also what the outermost trusted
// proxy has said, whose client that is.
func (p Proxies) WalkElements(peer netip.Addr, elements []Element, most int) (client netip.Addr, said Element) {
	client = peer
	for i := len(elements) - 1; i >= 0 && most > 0; i-- {
		most--
		said = elements[i]
		addr, ok := ParseAddr(said.For)
		if !ok {
			return client, said // "unknown", or a name that hides it
		}
		if client = addr; !p.Include(addr) {
			return client, said
		}
	}
	return client, said
}
