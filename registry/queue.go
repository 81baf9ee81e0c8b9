package registry

import (
	"container/list"
	"slices"
	"time"
)

// queue holds what a peer has not been told yet, oldest first and at most one task
// per id (spec 4.10). It is not safe for concurrent use.
type queue struct {
	most    int
	order   *list.List // of *task
	waiting map[taskID]*list.Element

	overwritten, overflowed, expired, replayed int64
}

func newQueue(most int) *queue {
	return &queue{most: most, order: list.New(), waiting: map[taskID]*list.Element{}}
}

func (q *queue) len() int { return q.order.Len() }

// put adds a task. One with the same id is replaced in its place; without room the
// oldest is dropped.
func (q *queue) put(t *task) {
	if e, ok := q.waiting[t.id]; ok {
		e.Value = t
		q.overwritten++
		return
	}
	if q.order.Len() >= q.most {
		q.remove(q.order.Front())
		q.overflowed++
	}
	q.waiting[t.id] = q.order.PushBack(t)
}

// putBack returns a batch that could not be delivered to the front, in its order,
// without what has expired or been replaced since.
func (q *queue) putBack(batch []*task, now time.Time) {
	for _, t := range slices.Backward(batch) {
		_, newer := q.waiting[t.id]
		switch {
		case newer:
			q.overwritten++
		case t.expiredAt(now):
			q.expired++
		case q.order.Len() >= q.most:
			q.overflowed++
		default:
			q.waiting[t.id] = q.order.PushFront(t)
			q.replayed++
		}
	}
}

// cut takes up to most tasks from the front; expired ones are dropped on the way.
func (q *queue) cut(most int, now time.Time) []*task {
	var batch []*task
	for e := q.order.Front(); e != nil && len(batch) < most; e = q.order.Front() {
		t := q.remove(e)
		if t.expiredAt(now) {
			q.expired++
			continue
		}
		batch = append(batch, t)
	}
	return batch
}

// oldest is when the task at the front was queued.
func (q *queue) oldest() (time.Time, bool) {
	front := q.order.Front()
	if front == nil {
		return time.Time{}, false
	}
	return taskOf(front).queued, true
}

func (q *queue) full() bool { return q.order.Len() >= q.most }

func (q *queue) remove(e *list.Element) *task {
	t := taskOf(e)
	q.order.Remove(e)
	delete(q.waiting, t.id)
	return t
}

func taskOf(e *list.Element) *task {
	t, _ := e.Value.(*task)
	return t
}
