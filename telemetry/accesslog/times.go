package accesslog

import "time"

const (
	jsonTime   = "2006-01-02T15:04:05.000Z07:00"
	commonTime = "[02/Jan/2006:15:04:05 -0700]"
)

// times keep the texts of the last second, which many lines have.
type times struct{ utc, local second }

// json appends a time in UTC as jsonTime has it.
func (t *times) json(dst []byte, at time.Time) []byte {
	millis := at.Nanosecond() / int(time.Millisecond)
	dst = append(dst, t.utc.text(at.UTC(), "2006-01-02T15:04:05.")...)
	return append(dst, digits[millis/100], digits[millis/10%10], digits[millis%10], 'Z')
}

// common appends a time as commonTime has it.
func (t *times) common(dst []byte, at time.Time) []byte {
	return append(dst, t.local.text(at, commonTime)...)
}

// second is one in a layout that shows no parts of it.
type second struct {
	unix  int64
	zone  *time.Location
	shown []byte
}

// text is always called with the same layout.
func (s *second) text(at time.Time, layout string) []byte {
	if unix, zone := at.Unix(), at.Location(); unix != s.unix || zone != s.zone {
		s.unix, s.zone, s.shown = unix, zone, at.AppendFormat(s.shown[:0], layout)
	}
	return s.shown
}
