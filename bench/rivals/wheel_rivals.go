package main

import (
	"container/heap"
	"math"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/google/btree"
	"github.com/nats-io/nats-server/v2/server/thw"
)

// heapTimer is a timer in a binary heap. It knows its place there, so that it can be taken out.
type heapTimer struct {
	at    int64
	id    uint64
	index int
}

// byDeadline is the heap, as container/heap wants it.
type byDeadline []*heapTimer

func (h byDeadline) Len() int           { return len(h) }
func (h byDeadline) Less(i, j int) bool { return h[i].at < h[j].at }

func (h byDeadline) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *byDeadline) Push(x any) {
	t := x.(*heapTimer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *byDeadline) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}

// heapSet keeps timers in a container/heap.
type heapSet struct {
	timers  byDeadline
	handles []*heapTimer // by id
	log     *expiryLog
}

func newHeap(ids int, log *expiryLog) timerSet {
	return &heapSet{handles: make([]*heapTimer, ids), log: log}
}

func (s *heapSet) arm(id uint64, at int64) {
	t := &heapTimer{at: at, id: id}
	s.handles[id] = t
	heap.Push(&s.timers, t)
}

func (s *heapSet) cancel(id uint64, _ int64) bool {
	t := s.handles[id]
	s.handles[id] = nil
	return heap.Remove(&s.timers, t.index) == any(t)
}

func (s *heapSet) rearm(id uint64, _, to int64) bool {
	t := s.handles[id]
	t.at = to
	heap.Fix(&s.timers, t.index)
	return s.timers[t.index] == t
}

func (s *heapSet) advance(now int64) {
	for len(s.timers) > 0 && s.timers[0].at <= now {
		s.log.fire(heap.Pop(&s.timers).(*heapTimer).id)
	}
}

func (s *heapSet) close(*timerLoad) ([]figure, []string) {
	return nil, complaints(complaint{len(s.timers), "were left in the heap"})
}

// treeTimer is a timer in a B-tree; the id tells apart those of one deadline.
type treeTimer struct {
	at int64
	id uint64
}

// treeSet keeps timers in a google/btree.
type treeSet struct {
	timers *btree.BTreeG[treeTimer]
	log    *expiryLog
}

func newBtree(_ int, log *expiryLog) timerSet {
	const degree = 32
	less := func(a, b treeTimer) bool { return a.at < b.at || a.at == b.at && a.id < b.id }
	return &treeSet{timers: btree.NewG(degree, less), log: log}
}

func (s *treeSet) arm(id uint64, at int64) { s.timers.ReplaceOrInsert(treeTimer{at, id}) }

func (s *treeSet) cancel(id uint64, at int64) bool {
	_, found := s.timers.Delete(treeTimer{at, id})
	return found
}

func (s *treeSet) rearm(id uint64, from, to int64) bool {
	found := s.cancel(id, from)
	s.arm(id, to)
	return found
}

func (s *treeSet) advance(now int64) {
	for {
		first, ok := s.timers.Min()
		if !ok || first.at > now {
			return
		}
		s.timers.DeleteMin()
		s.log.fire(first.id)
	}
}

func (s *treeSet) close(*timerLoad) ([]figure, []string) {
	return nil, complaints(complaint{s.timers.Len(), "were left in the tree"})
}

// thwSet keeps timers in the hashed wheel that nats-server expires messages with.
type thwSet struct {
	timers *thw.HashWheel
	fire   func(id uint64, expires int64) bool
}

func newThw(_ int, log *expiryLog) timerSet {
	return &thwSet{
		timers: thw.NewHashWheel(),
		fire: func(id uint64, _ int64) bool {
			log.fire(id)
			return true
		},
	}
}

func (s *thwSet) arm(id uint64, at int64) { _ = s.timers.Add(id, nanos(at)) }

func (s *thwSet) cancel(id uint64, at int64) bool { return s.timers.Remove(id, nanos(at)) == nil }

func (s *thwSet) rearm(id uint64, from, to int64) bool {
	return s.timers.Update(id, nanos(from), nanos(to)) == nil
}

func (s *thwSet) advance(now int64) { thwExpire(s.timers, nanos(now), s.fire) }

func (s *thwSet) close(*timerLoad) ([]figure, []string) {
	left := min(s.timers.Count(), math.MaxInt)
	return nil, complaints(complaint{int(left), "were left in the wheel"})
}

// nanos is the unit of that wheel.
func nanos(at int64) int64 { return at * int64(time.Millisecond) }

// thwExpire is what ExpireTasks calls with the time of day. There is no other way to give that
// wheel a virtual clock.
//
//go:linkname thwExpire github.com/nats-io/nats-server/v2/server/thw.(*HashWheel).expireTasks
func thwExpire(timers *thw.HashWheel, now int64, fire func(id uint64, expires int64) bool)
