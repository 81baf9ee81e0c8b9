package eureka

import "time"

// ReplicationAction is what an item of a replication batch asks for.
type ReplicationAction string

// The actions of section 2.7.
const (
	Heartbeat            ReplicationAction = "Heartbeat"
	Register             ReplicationAction = "Register"
	Cancel               ReplicationAction = "Cancel"
	StatusUpdate         ReplicationAction = "StatusUpdate"
	DeleteStatusOverride ReplicationAction = "DeleteStatusOverride"
)

// ReplicationItem is one change that a registry tells its peer. Fields that its
// action does not use are zero and are not sent.
type ReplicationItem struct {
	AppName, ID string
	LastDirty   time.Time // zero: not sent
	// OverriddenStatus and Status are as sent, since a receiver judges each item by itself.
	OverriddenStatus, Status string
	Instance                 *Instance // of a Register
	Action                   ReplicationAction
}

// ReplicationResult is a peer's answer to the item at the same place.
type ReplicationResult struct {
	StatusCode int
	Instance   *Instance // the peer's version, when that is newer
}
