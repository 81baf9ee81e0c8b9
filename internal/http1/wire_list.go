package http1

import (
	"iter"
	"strings"
)

// members yields the members of a comma-separated list without white space
// around them; empty ones are passed over (RFC 9110 5.6.1.2).
func members(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for list != "" {
			var member string
			member, list, _ = strings.Cut(list, ",")
			if member = strings.Trim(member, " \t"); member != "" && !yield(member) {
				return
			}
		}
	}
}
