package eureka

import "strconv"

// Applications is a registry's content or, with actions, a delta of it.
type Applications struct {
	// VersionsDelta is 1 in a full list and counts deltas; -1 when absent.
	VersionsDelta int64
	// HashCode is the hash of the whole registry, also in a delta. HasHash tells an empty
	// hash, that of an empty registry, from none.
	HashCode string
	HasHash  bool
	// Applications are in the order of the document.
	Applications []Application
}

// Application is the instances of one name.
type Application struct {
	Name      string
	Instances []*Instance
}

// Len counts the instances.
func (a *Applications) Len() int {
	n := 0
	for i := range a.Applications {
		n += len(a.Applications[i].Instances)
	}
	return n
}

// Hash computes the hash of the instances that are listed (section 4.8).
func (a *Applications) Hash() string {
	var counts StatusCounts
	for i := range a.Applications {
		for _, instance := range a.Applications[i].Instances {
			counts.Add(instance.Status, 1)
		}
	}
	return counts.Hash()
}

// StatusCounts counts instances by status, for a hash that is kept up to date.
type StatusCounts [statuses]int

// Add counts n more instances, or fewer.
func (c *StatusCounts) Add(s Status, n int) {
	if s >= statuses {
		s = Unknown
	}
	c[s] += n
}

// Hash gives the counts that are not zero in the order of the names, such as
// "DOWN_2_UP_40_"; "" without instances.
func (c *StatusCounts) Hash() string {
	var b []byte
	for _, s := range [...]Status{Down, OutOfService, Starting, Unknown, Up} {
		if c[s] > 0 {
			b = append(b, s.String()...)
			b = append(b, '_')
			b = strconv.AppendInt(b, int64(c[s]), 10)
			b = append(b, '_')
		}
	}
	return string(b)
}
