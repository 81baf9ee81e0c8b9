package demo

// The upstreams' handlers, without the fixed addresses that only one process at
// a time can have.
var (
	Users      = users
	OldHandler = legacy
)
