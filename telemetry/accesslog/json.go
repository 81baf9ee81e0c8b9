package accesslog

import (
	"net/http"
	"strconv"
	"time"
)

const jsonTime = "2006-01-02T15:04:05.000Z07:00"

// jsonLine makes an object of all fields that there are.
func jsonLine(request, response []shownHeader) func([]byte, *entry) []byte {
	fields := allFields()
	return func(dst []byte, e *entry) []byte {
		dst = append(dst, `{"time":"`...)
		dst = e.Start.UTC().AppendFormat(dst, jsonTime)
		dst = append(dst, '"')
		for i := range fields {
			dst = fields[i].json(dst, e)
		}
		dst = jsonHeaders(dst, e, "request_headers", request, e.Request.Header)
		dst = jsonHeaders(dst, e, "response_headers", response, e.Writer().Header())
		return append(dst, '}')
	}
}

func (f *field) json(dst []byte, e *entry) []byte {
	switch {
	case f.text != nil:
		if text := f.text(e); text != "" {
			return appendJSON(appendKey(dst, f.name), shortened(text, e.log.MaxField))
		}
	case f.num != nil:
		if n := f.num(e); n >= 0 {
			return strconv.AppendInt(appendKey(dst, f.name), n, 10)
		}
	case f.took != nil:
		if took := f.took(e); took >= 0 {
			return appendMillis(appendKey(dst, f.name), took)
		}
	default:
		if addr := f.addr(e); addr.IsValid() {
			dst = append(appendKey(dst, f.name), '"')
			return append(addr.AppendTo(dst), '"')
		}
	}
	return dst
}

// appendKey appends the name of a further member.
func appendKey(dst []byte, name string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	return append(dst, `":`...)
}

// appendMillis appends milliseconds with three digits behind the point.
func appendMillis(dst []byte, d time.Duration) []byte {
	micros := int64(d / time.Microsecond)
	dst = strconv.AppendInt(dst, micros/1000, 10)
	rest := micros % 1000
	return append(dst, '.', digits[rest/100], digits[rest/10%10], digits[rest%10])
}

func jsonHeaders(dst []byte, e *entry, name string, list []shownHeader, from http.Header) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(appendKey(dst, name), '{')
	first := true
	for _, h := range list {
		value := e.log.masked.header(h, from)
		if value == "" {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendJSON(dst, h.name), ':')
		dst = appendJSON(dst, shortened(value, e.log.MaxField))
	}
	return append(dst, '}')
}
