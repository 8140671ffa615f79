package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// memStore is a Store in memory, for driving the engine in virtual time: rows in pages, in the order of
// their keys. The real one has its own tests; this one is as simple as can be without being slow.
//
// Invariant: no page is empty, and the keys of a page come before those of the next.
type memStore struct {
	mu      sync.Mutex
	pages   []*memPage
	applied job.Position
}

// memPage is a run of rows.
type memPage struct {
	keys   []string
	values [][]byte
}

// memPageRows is the size at which a page is cut in two.
const memPageRows = 128

func newMemStore() *memStore { return &memStore{} }

func (s *memStore) Apply(at job.Position, batch []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied = at
	return job.Changes(batch, func(c job.Change) error {
		switch c.Op {
		case job.OpPut:
			s.put(c.Key, slices.Clone(c.Value))
		case job.OpDelete:
			s.remove(c.Key)
		case job.OpDeleteRange:
			s.removeRange(c.Key, string(c.Value))
		}
		return nil
	})
}

func (s *memStore) put(key, value []byte) {
	if len(s.pages) == 0 {
		s.pages = []*memPage{{keys: []string{string(key)}, values: [][]byte{value}}}
		return
	}
	n := max(0, s.pageOf(key))
	p := s.pages[n]
	i, found := p.find(key)
	if found {
		p.values[i] = value
		return
	}
	p.keys, p.values = slices.Insert(p.keys, i, string(key)), slices.Insert(p.values, i, value)
	if half := memPageRows / 2; len(p.keys) > memPageRows {
		tail := &memPage{keys: slices.Clone(p.keys[half:]), values: slices.Clone(p.values[half:])}
		p.cut(half, len(p.keys))
		s.pages = slices.Insert(s.pages, n+1, tail)
	}
}

func (s *memStore) remove(key []byte) {
	n := s.pageOf(key)
	if n < 0 {
		return
	}
	if i, found := s.pages[n].find(key); found {
		s.cut(n, i, i+1)
	}
}

func (s *memStore) removeRange(low []byte, high string) {
	for n := max(0, s.pageOf(low)); n < len(s.pages) && s.pages[n].keys[0] < high; {
		from, _ := s.pages[n].find(low)
		if to := sort.SearchStrings(s.pages[n].keys, high); to <= from || !s.cut(n, from, to) {
			n++
		}
	}
}

// cut drops rows of a page, and the page with the last of them; it reports whether the page is gone.
func (s *memStore) cut(n, from, to int) (gone bool) {
	s.pages[n].cut(from, to)
	if gone = len(s.pages[n].keys) == 0; gone {
		s.pages = slices.Delete(s.pages, n, n+1)
	}
	return gone
}

func (p *memPage) cut(from, to int) {
	p.keys, p.values = slices.Delete(p.keys, from, to), slices.Delete(p.values, from, to)
}

// pageOf returns the last page that does not begin behind a key, or -1.
func (s *memStore) pageOf(key []byte) int {
	return sort.Search(len(s.pages), func(i int) bool { return s.pages[i].keys[0] > string(key) }) - 1
}

// find returns the place of a key in a page, or where it would go.
func (p *memPage) find(key []byte) (int, bool) {
	i := sort.Search(len(p.keys), func(i int) bool { return p.keys[i] >= string(key) })
	return i, i < len(p.keys) && p.keys[i] == string(key)
}

func (s *memStore) Applied() job.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

func (s *memStore) Get(key []byte) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.pageOf(key); n >= 0 {
		if i, found := s.pages[n].find(key); found {
			return slices.Clone(s.pages[n].values[i]), true, nil
		}
	}
	return nil, false, nil
}

// Scan looks its place up anew for each row, so that fn may take its time and others may write.
func (s *memStore) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	for key, value, ok := s.first(low); ok && (high == nil || key < string(high)); {
		if more, err := fn([]byte(key), value); err != nil || !more {
			return err
		}
		key, value, ok = s.first(append([]byte(key), 0))
	}
	return nil
}

// first returns the first row that is not before a key.
func (s *memStore) first(low []byte) (key string, value []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, i := max(0, s.pageOf(low)), 0
	if n < len(s.pages) {
		if i, _ = s.pages[n].find(low); i == len(s.pages[n].keys) {
			n, i = n+1, 0
		}
	}
	if n == len(s.pages) {
		return "", nil, false
	}
	return s.pages[n].keys[i], s.pages[n].values[i], true
}

// clone returns a copy that goes its own way. Values are never written into.
func (s *memStore) clone() *memStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &memStore{applied: s.applied, pages: make([]*memPage, len(s.pages))}
	for i, p := range s.pages {
		c.pages[i] = &memPage{keys: slices.Clone(p.keys), values: slices.Clone(p.values)}
	}
	return c
}

// memLog is a Log that only counts, and that a test can make fail. Like the log of a server, it accepts no batch over
// CommitBytesMax.
type memLog struct {
	lsn  uint64
	fail bool
	tail func(at job.Position, batch []byte) // gets what is appended; may be nil
}

var errDiskGone = errors.New("the disk is gone")

func (l *memLog) Append(epoch uint64, batch []byte) (job.Position, error) {
	if l.fail {
		return job.Position{}, errDiskGone
	}
	if len(batch) > core.CommitBytesMax {
		return job.Position{}, fmt.Errorf("a commit of %d bytes; at most %d are allowed", len(batch), core.CommitBytesMax)
	}
	l.lsn++
	at := job.Position{LSN: l.lsn, Epoch: epoch}
	if l.tail != nil {
		l.tail(at, batch)
	}
	return at, nil
}
