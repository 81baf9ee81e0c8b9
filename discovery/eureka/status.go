package eureka

import "fmt"

// Status is what an instance is up to. The zero value is Unknown.
type Status uint8

// The statuses of section 3.1.
const (
	Unknown      Status = iota // also: no override
	Up                         // takes traffic
	Down                       // failing its health check
	Starting                   // initialising
	OutOfService               // deliberately without traffic
	statuses
)

var _ fmt.Stringer = Unknown

func (s Status) String() string {
	if s >= statuses {
		s = Unknown
	}
	return [...]string{"UNKNOWN", "UP", "DOWN", "STARTING", "OUT_OF_SERVICE"}[s]
}

// ParseStatus reads one of the five names, exactly as written in the protocol.
func ParseStatus(name string) (s Status, ok bool) {
	for s = range statuses {
		if s.String() == name {
			return s, true
		}
	}
	return Unknown, false
}

// Action is what happened to an instance.
type Action uint8

// The actions; an instance that carries none is passed over in a delta.
const (
	NoAction Action = iota
	Added
	Modified
	Deleted
)

// String gives the name of the protocol, "" for NoAction.
func (a Action) String() string {
	if a > Deleted {
		a = NoAction
	}
	return [...]string{"", "ADDED", "MODIFIED", "DELETED"}[a]
}

// ParseAction reads a name; what is none gives NoAction.
func ParseAction(name string) Action {
	for a := range Deleted + 1 {
		if a.String() == name {
			return a
		}
	}
	return NoAction
}
