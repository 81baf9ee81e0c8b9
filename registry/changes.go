package registry

import (
	"container/list"
	"time"
)

// changes are the leases that have visibly changed of late, each once, in the order
// of their last change (spec 4.1, 4.8). The registry's mutex guards it.
type changes struct {
	order *list.List // of *change
	byKey map[instanceKey]*list.Element
	most  int
}

// change refers to a lease, so that a delta shows what the lease is by then.
type change struct {
	at    time.Duration // since the registry's start
	lease *lease
}

func newChanges(most int) *changes {
	return &changes{order: list.New(), byKey: map[instanceKey]*list.Element{}, most: most}
}

func (c *changes) add(l *lease, since time.Duration) {
	if e, ok := c.byKey[l.key()]; ok {
		c.order.Remove(e)
	} else if c.order.Len() >= c.most {
		c.drop(c.order.Front())
	}
	c.byKey[l.key()] = c.order.PushBack(&change{since, l})
}

// sweep forgets what is older than retention.
func (c *changes) sweep(since, retention time.Duration) {
	for e := c.order.Front(); e != nil && changeOf(e).at < since-retention; e = c.order.Front() {
		c.drop(e)
	}
}

func (c *changes) drop(e *list.Element) {
	c.order.Remove(e)
	delete(c.byKey, changeOf(e).lease.key())
}

// leases lists what has changed, the oldest change first.
func (c *changes) leases() []*lease {
	all := make([]*lease, 0, c.order.Len())
	for e := c.order.Front(); e != nil; e = e.Next() {
		all = append(all, changeOf(e).lease)
	}
	return all
}

func changeOf(e *list.Element) *change {
	c, _ := e.Value.(*change)
	return c
}
