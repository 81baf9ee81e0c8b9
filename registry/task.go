package registry

import (
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// taskID names what a task is about. Different actions on one instance are
// different tasks, in the order of the queue.
type taskID struct {
	action   eureka.ReplicationAction
	instance instanceKey
}

// instanceKey finds an instance; its parts are the application's name in upper case
// and the identity.
type instanceKey struct{ app, id string }

func (k instanceKey) String() string { return k.app + "/" + k.id }

// label is the form in which logs and the lists of leases name an instance.
func (k instanceKey) label() string { return k.app + "(" + k.id + ")" }

// task is one change that a peer has to be told.
type task struct {
	id      taskID
	queued  time.Time
	expires time.Time // zero: only when the queue is full
	// instance is the registration, or what the instance was when its status changed.
	instance *eureka.Instance
	status   eureka.Status // of status changes
}

func (t *task) expiredAt(now time.Time) bool { return !t.expires.IsZero() && now.After(t.expires) }
