package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// fault builds what is wrong with a value; the value is shown as far as it may be.
func fault(v *node, format string, args ...any) error {
	return fmt.Errorf("%s %s", v.quote(), fmt.Sprintf(format, args...))
}

func textOf(v *node) (string, error) {
	if v.kind != scalar {
		return "", fmt.Errorf("expected a single value, found %s", v.kind)
	}
	return strings.TrimSpace(v.text), nil
}

// filled is textOf for values that make no sense when empty.
func filled(v *node) (string, error) {
	text, err := textOf(v)
	if err == nil && text == "" {
		err = errors.New("the value is empty")
	}
	return text, err
}

func boolOf(v *node) (bool, error) {
	text, err := filled(v)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, fault(v, "is not a boolean (true or false)")
}

var octal = regexp.MustCompile(`^[+-]?0[0-9]`)

// amount is filled for numbers, with a unit or without. It refuses what YAML dialects
// read differently: Java's takes 0100 for 64.
func amount(v *node) (string, error) {
	text, err := filled(v)
	if err == nil && octal.MatchString(text) {
		err = fault(v, "begins with a zero, as octal numbers do; leave the zero out")
	}
	return text, err
}

var wholeNumber = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)$`)

func decimalOf(v *node, low, high float64) (float64, error) {
	text, err := amount(v)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) {
		return 0, fault(v, "is not a number")
	}
	if f < low || f > high {
		return 0, fault(v, "is out of range (%g to %g)", low, high)
	}
	return f, nil
}

// intOf also refuses 1_000, which YAML dialects read differently too.
func intOf(v *node, low, high int) (int, error) {
	text, err := amount(v)
	if err != nil {
		return 0, err
	}
	if !wholeNumber.MatchString(text) {
		return 0, fault(v, "is not a whole number")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fault(v, "is out of range (%s)", bounds(low, high))
	}
	return n, nil
}

func bounds(low, high int) string {
	if high == math.MaxInt {
		return fmt.Sprintf("at least %d", low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// listOf reads a YAML list or a comma-separated string. Blanks around an entry are
// dropped, empty entries too.
func listOf(v *node) ([]*node, error) {
	entries := v.items
	switch v.kind {
	case scalar:
		entries = splitCommas(v)
	case table:
		if len(v.fields) > 0 {
			return nil, fmt.Errorf("expected a list, found %s", v.kind)
		}
	case list:
	}
	kept := make([]*node, 0, len(entries))
	var problems []error
	for _, e := range entries {
		switch {
		case e.kind != scalar:
			problems = append(problems, entryError{fmt.Errorf("expected a list of single values, found %s in it", e.kind), e.at})
		case strings.TrimSpace(e.text) != "":
			kept = append(kept, e)
		}
	}
	return kept, errors.Join(problems...)
}

func splitCommas(v *node) []*node {
	var entries []*node
	for text := range strings.SplitSeq(v.text, ",") {
		e := *v
		e.text = strings.TrimSpace(text)
		entries = append(entries, &e)
	}
	return entries
}

func textsOf(v *node) ([]string, error) {
	entries, err := listOf(v)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = strings.TrimSpace(e.text)
	}
	return texts, nil
}

var (
	simpleDuration = regexp.MustCompile(`^([+-]?[0-9]+)\s*(ns|us|ms|s|m|h|d)?$`)
	isoDuration    = regexp.MustCompile(`^([+-])?P(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?$`)
)

func unitOf(suffix string, plain time.Duration) time.Duration {
	switch suffix {
	case "ns":
		return time.Nanosecond
	case "us":
		return time.Microsecond
	case "ms":
		return time.Millisecond
	case "s":
		return time.Second
	case "m":
		return time.Minute
	case "h":
		return time.Hour
	case "d":
		return 24 * time.Hour
	}
	return plain
}

// durationOf reads a plain number in the given unit, a number with a unit such as
// 500ms, or an ISO-8601 duration such as PT1M30S.
func durationOf(v *node, plain time.Duration) (time.Duration, error) {
	text, err := amount(v)
	if err != nil {
		return 0, err
	}
	d, ok := parseDuration(text, plain)
	if !ok {
		return 0, fault(v, "is not a duration (such as 500ms, 5s, 2m, PT5S, or a plain number of %s)", unitName(plain))
	}
	return d, nil
}

func parseDuration(text string, plain time.Duration) (time.Duration, bool) {
	if m := simpleDuration.FindStringSubmatch(strings.ToLower(text)); m != nil {
		return times(m[1], unitOf(m[2], plain))
	}
	m := isoDuration.FindStringSubmatch(strings.ToUpper(text))
	if m == nil || strings.HasSuffix(strings.ToUpper(text), "T") {
		return 0, false
	}
	return sumISO(m)
}

func sumISO(m []string) (time.Duration, bool) {
	var sum time.Duration
	found := false
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		digits := m[2+i]
		if digits == "" {
			continue
		}
		part, ok := times(digits, unit)
		if !ok || sum > math.MaxInt64-part {
			return 0, false
		}
		sum, found = sum+part, true
	}
	if m[1] == "-" {
		sum = -sum
	}
	return sum, found
}

// times multiplies, and tells whether the result is a duration that can be held.
func times(digits string, unit time.Duration) (time.Duration, bool) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		d := time.Duration(n) * unit
		return d, d/unit == time.Duration(n)
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || f*float64(unit) >= math.MaxInt64 {
		return 0, false
	}
	return time.Duration(math.Round(f * float64(unit))), strings.Contains(digits, ".")
}

func unitName(unit time.Duration) string {
	switch unit {
	case time.Second:
		return "seconds"
	case time.Minute:
		return "minutes"
	default:
		return "milliseconds"
	}
}

// sizeName is the shortest way to write a size.
func sizeName(n int64) string {
	for _, unit := range []struct {
		name  string
		shift uint
	}{{"GB", 30}, {"MB", 20}, {"KB", 10}} {
		if n>>unit.shift > 0 && n%(1<<unit.shift) == 0 {
			return strconv.FormatInt(n>>unit.shift, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

var sizePattern = regexp.MustCompile(`^([0-9]+)\s*(B|KB|MB|GB|TB)?$`)

// sizeOf reads a plain number of bytes or a number with B, KB, MB, GB or TB, which
// count in 1024s as in Spring.
func sizeOf(v *node) (int64, error) {
	text, err := amount(v)
	if err != nil {
		return 0, err
	}
	n, ok := parseSize(text)
	if !ok {
		return 0, fault(v, "is not a size (such as 8KB, 1MB, or a plain number of bytes)")
	}
	return n, nil
}

func parseSize(text string) (int64, bool) {
	m := sizePattern.FindStringSubmatch(strings.ToUpper(text))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, false
	}
	shift := map[string]uint{"KB": 10, "MB": 20, "GB": 30, "TB": 40}[m[2]]
	return n << shift, n <= math.MaxInt64>>shift
}
