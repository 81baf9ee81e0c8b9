package errorfilter

import (
	"strconv"
	"strings"
)

// preference is how much a client wants one media type: by its quality, then by
// how precisely it was named, then by its place.
type preference struct {
	quality float64
	precise int
	place   int
}

func (p *preference) over(o *preference) bool {
	switch {
	case p.quality != o.quality:
		return p.quality > o.quality
	case p.precise != o.precise:
		return p.precise > o.precise
	}
	return p.place < o.place
}

// prefersHTML reports whether the Accept field asks for HTML rather than JSON
// (RFC 9110 12.5.1). Without the field, or when both are as welcome, as for
// "*/*", it is JSON.
func prefersHTML(accept []string) bool {
	var html, json preference
	for place, member := range strings.Split(strings.Join(accept, ","), ",") {
		media, parameters, _ := strings.Cut(member, ";")
		media = strings.ToLower(strings.TrimSpace(media))
		q := quality(parameters)
		html.learn(precision(media, "text", "html"), q, place)
		json.learn(precision(media, "application", "json"), q, place)
	}
	return html.quality > 0 && html.over(&json)
}

// learn takes over what a media range says, unless a more precise one has
// spoken.
func (p *preference) learn(precise int, quality float64, place int) {
	if precise > p.precise {
		*p = preference{quality, precise, place}
	}
}

// precision is 3 for a media range that names the type, 2 for "type/*", 1 for
// "*/*" and 0 for one of other types.
func precision(media, kind, subtype string) int {
	switch media {
	case kind + "/" + subtype:
		return 3
	case kind + "/*":
		return 2
	case "*/*":
		return 1
	}
	return 0
}

// quality reads the weight among the parameters of a media range: 1 if there
// is none, 0 if it is malformed.
func quality(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}
