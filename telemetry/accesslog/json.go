package accesslog

import (
	"strconv"
	"time"
)

const jsonTime = "2006-01-02T15:04:05.000Z07:00"

// member is a field with what stands before its value.
type member struct {
	field
	key string
}

func members() []member {
	var all []member
	for _, f := range allFields() {
		all = append(all, member{f, `,"` + f.name + `":`})
	}
	return all
}

// jsonLine makes an object of all fields that there are.
func jsonLine(request, response []shownHeader) func([]byte, *entry) []byte {
	all := members()
	return func(dst []byte, e *entry) []byte {
		dst = append(dst, `{"time":"`...)
		dst = append(e.second.append(dst, e.Start.UTC()), '"')
		for i := range all {
			dst = all[i].json(dst, e)
		}
		dst = jsonHeaders(dst, e, `,"request_headers":{`, request, true)
		dst = jsonHeaders(dst, e, `,"response_headers":{`, response, false)
		return append(dst, '}')
	}
}

// second keeps the text of the last one, which many lines begin with.
type second struct {
	unix int64
	text []byte
}

// append appends a time in UTC as jsonTime has it.
func (s *second) append(dst []byte, at time.Time) []byte {
	if unix := at.Unix(); unix != s.unix || s.text == nil {
		s.unix, s.text = unix, at.AppendFormat(s.text[:0], "2006-01-02T15:04:05.")
	}
	millis := at.Nanosecond() / int(time.Millisecond)
	return append(append(dst, s.text...), digits[millis/100], digits[millis/10%10], digits[millis%10], 'Z')
}

func (f *member) json(dst []byte, e *entry) []byte {
	switch {
	case f.text != nil:
		if text := f.text(e); text != "" {
			return appendJSON(append(dst, f.key...), shortened(text, e.log.MaxField))
		}
	case f.num != nil:
		if n := f.num(e); n >= 0 {
			return strconv.AppendInt(append(dst, f.key...), n, 10)
		}
	case f.took != nil:
		if took := f.took(e); took >= 0 {
			return appendMillis(append(dst, f.key...), took)
		}
	case f.flag != nil:
		if f.flag(e) {
			return append(append(dst, f.key...), "true"...)
		}
	default:
		if addr := f.addr(e); addr.IsValid() {
			dst = append(append(dst, f.key...), '"')
			return append(addr.AppendTo(dst), '"')
		}
	}
	return dst
}

// appendMillis appends milliseconds with three digits behind the point.
func appendMillis(dst []byte, d time.Duration) []byte {
	micros := int64(d / time.Microsecond)
	dst = strconv.AppendInt(dst, micros/1000, 10)
	rest := micros % 1000
	return append(dst, '.', digits[rest/100], digits[rest/10%10], digits[rest%10])
}

func jsonHeaders(dst []byte, e *entry, begin string, list []shownHeader, ofRequest bool) []byte {
	none := len(dst)
	for _, h := range list {
		value := e.header(h, ofRequest)
		if value == "" {
			continue
		}
		if len(dst) == none {
			dst = append(dst, begin...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(appendJSON(dst, h.name), ':')
		dst = appendJSON(dst, shortened(value, e.log.MaxField))
	}
	if len(dst) == none {
		return dst
	}
	return append(dst, '}')
}
