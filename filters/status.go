package filters

import (
	"strconv"
	"time"
)

// Status is what became of one filter for one request.
type Status int8

// The numbers are Zuul's (zuul.md 1.3).
const (
	Success  Status = 1
	Skipped  Status = -1
	Disabled Status = -2
	Failed   Status = -3
)

func (s Status) String() string {
	switch s {
	case Success:
		return "SUCCESS"
	case Skipped:
		return "SKIPPED"
	case Disabled:
		return "DISABLED"
	case Failed:
		return "FAILED"
	}
	return "Status(" + strconv.Itoa(int(s)) + ")"
}

// Execution records one filter that ran for a request.
type Execution struct {
	Phase  Phase
	Filter string
	Status Status // Success or Failed
	Took   time.Duration
}

// String is Zuul's form, for example "PreDecorationFilter[SUCCESS][12ms]".
func (e Execution) String() string {
	return e.Filter + "[" + e.Status.String() + "][" + strconv.FormatInt(e.Took.Milliseconds(), 10) + "ms]"
}
