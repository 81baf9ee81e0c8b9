package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severity tells a finding that stops the gateway from one that does not.
type Severity uint8

// The severities.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Finding is one thing wrong with the configuration. Message never holds a secret.
type Finding struct {
	Severity Severity
	Key      string // as written, "" when the finding is about a whole file
	Position Position
	Message  string
}

func (f Finding) String() string {
	var b strings.Builder
	if f.Position.File != "" {
		b.WriteString(f.Position.String())
		b.WriteString(": ")
	}
	b.WriteString(f.Severity.String())
	b.WriteString(": ")
	if f.Key != "" {
		b.WriteString(f.Key)
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// Report collects every finding about one configuration. It is not safe for
// concurrent use.
type Report struct {
	findings []Finding
}

// ErrInvalid is what [Report.Err] wraps.
var ErrInvalid = errors.New("config: invalid configuration")

// Add appends a finding, such as a filter name that only the gateway can check.
func (r *Report) Add(f Finding) { r.findings = append(r.findings, f) }

// AddError adds an error met while something configured at that place was built. A
// [SettingsError] brings places of its own.
func (r *Report) AddError(key string, at Position, err error) {
	settings, ok := errors.AsType[*SettingsError](err)
	if !ok {
		r.errorf(key, at, "%s", err)
		return
	}
	for _, f := range settings.Findings {
		r.Add(f)
	}
}

// Findings gives all findings: errors first, each group by file and line.
func (r *Report) Findings() []Finding {
	sorted := slices.Clone(r.findings)
	slices.SortStableFunc(sorted, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Position.File, b.Position.File),
			cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return sorted
}

// Err is nil when there is no error among the findings; warnings do not count. It
// wraps [ErrInvalid] and carries the lines of String.
func (r *Report) Err() error {
	if r.count(Error) == 0 {
		return nil
	}
	return fmt.Errorf("%w\n%s", ErrInvalid, strings.TrimRight(r.String(), "\n"))
}

// String gives one line per finding, errors before warnings, and a summary line.
func (r *Report) String() string {
	var b strings.Builder
	for _, f := range r.Findings() {
		b.WriteString(f.String())
		b.WriteByte('\n')
	}
	b.WriteString(r.summary())
	b.WriteByte('\n')
	return b.String()
}

func (r *Report) summary() string {
	if len(r.findings) == 0 {
		return "configuration is valid"
	}
	return plural(r.count(Error), "error") + ", " + plural(r.count(Warning), "warning")
}

func (r *Report) count(s Severity) int {
	n := 0
	for _, f := range r.findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (r *Report) errorf(key string, at Position, format string, args ...any) {
	r.Add(Finding{Error, key, at, fmt.Sprintf(format, args...)})
}

func (r *Report) warnf(key string, at Position, format string, args ...any) {
	r.Add(Finding{Warning, key, at, fmt.Sprintf(format, args...)})
}
