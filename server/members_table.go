package server

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// memberTable has the members of a process, which come and go in a cluster of several shards. Readers see a table that does not
// change. Its zero value is empty. Safe for concurrent use.
type memberTable struct {
	mu  sync.Mutex // held while the table is replaced
	now atomic.Pointer[memberList]
}

// memberList is a state of the table.
type memberList struct {
	all []*member          // in the order of their numbers
	of  map[uint32]*member // by number
}

var noMembers = &memberList{}

func (t *memberTable) list() *memberList {
	if l := t.now.Load(); l != nil {
		return l
	}
	return noMembers
}

// add adds a member; its number is not in the table.
func (t *memberTable) add(m *member) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replace(append(slices.Clone(t.list().all), m))
}

// remove removes a member.
func (t *memberTable) remove(m *member) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replace(slices.DeleteFunc(slices.Clone(t.list().all), func(o *member) bool { return o == m }))
}

// replace publishes another state. The caller holds the mutex.
func (t *memberTable) replace(all []*member) {
	slices.SortFunc(all, func(a, b *member) int { return cmp.Compare(a.number, b.number) })
	l := &memberList{all: all, of: make(map[uint32]*member, len(all))}
	for _, m := range all {
		l.of[m.number] = m
	}
	t.now.Store(l)
}
