// Package memory holds a store and a log of the scheduler in memory, with nothing durable: for the tests of users of the
// embedded scheduler, and for our own.
package memory

import (
	"slices"
	"sort"
	"sync"

	"github.com/carillon-io/carillon/job"
)

// Store is an ordered table of rows, in pages. The zero value is empty and ready for use. Its methods are safe for
// concurrent use.
//
// Invariant: no page is empty, and the keys of a page come before those of the next.
type Store struct {
	mu      sync.Mutex
	pages   []*page
	applied job.Position
}

// page is a run of rows.
type page struct {
	keys   []string
	values [][]byte
}

// pageRows is the size at which a page is cut in two.
const pageRows = 128

// Apply makes the changes of a commit visible, one after the other, and keeps its position. It checks neither that the position
// follows the last one, nor keeps the batch. It returns an error for a malformed batch.
func (s *Store) Apply(at job.Position, batch []byte) error {
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

func (s *Store) put(key, value []byte) {
	if len(s.pages) == 0 {
		s.pages = []*page{{keys: []string{string(key)}, values: [][]byte{value}}}
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
	if half := pageRows / 2; len(p.keys) > pageRows {
		tail := &page{keys: slices.Clone(p.keys[half:]), values: slices.Clone(p.values[half:])}
		p.cut(half, len(p.keys))
		s.pages = slices.Insert(s.pages, n+1, tail)
	}
}

func (s *Store) remove(key []byte) {
	n := s.pageOf(key)
	if n < 0 {
		return
	}
	if i, found := s.pages[n].find(key); found {
		s.cut(n, i, i+1)
	}
}

func (s *Store) removeRange(low []byte, high string) {
	for n := max(0, s.pageOf(low)); n < len(s.pages) && s.pages[n].keys[0] < high; {
		from, _ := s.pages[n].find(low)
		if to := sort.SearchStrings(s.pages[n].keys, high); to <= from || !s.cut(n, from, to) {
			n++
		}
	}
}

// cut drops rows of a page, and the page with the last of them; it reports whether the page is gone.
func (s *Store) cut(n, from, to int) (gone bool) {
	s.pages[n].cut(from, to)
	if gone = len(s.pages[n].keys) == 0; gone {
		s.pages = slices.Delete(s.pages, n, n+1)
	}
	return gone
}

func (p *page) cut(from, to int) {
	p.keys, p.values = slices.Delete(p.keys, from, to), slices.Delete(p.values, from, to)
}

// pageOf returns the last page that does not begin behind a key, or -1.
func (s *Store) pageOf(key []byte) int {
	return sort.Search(len(s.pages), func(i int) bool { return s.pages[i].keys[0] > string(key) }) - 1
}

// find returns the place of a key in a page, or where it would go.
func (p *page) find(key []byte) (int, bool) {
	i := sort.Search(len(p.keys), func(i int) bool { return p.keys[i] >= string(key) })
	return i, i < len(p.keys) && p.keys[i] == string(key)
}

// Applied returns the position of the last commit; the zero position for a new store.
func (s *Store) Applied() job.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

// Get returns a copy of the value of a key; ok is false if there is none.
func (s *Store) Get(key []byte) (value []byte, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.pageOf(key); n >= 0 {
		if i, found := s.pages[n].find(key); found {
			return slices.Clone(s.pages[n].values[i]), true, nil
		}
	}
	return nil, false, nil
}

// Scan calls fn for the rows in [low, high) in the order of keys, until fn returns false or an error; a nil high means the end.
// It looks its place up anew for each row, so that fn may take its time, and others may write meanwhile.
func (s *Store) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	for key, value, ok := s.first(low); ok && (high == nil || key < string(high)); {
		if more, err := fn([]byte(key), value); err != nil || !more {
			return err
		}
		key, value, ok = s.first(append([]byte(key), 0))
	}
	return nil
}

// first returns the first row that is not before a key.
func (s *Store) first(low []byte) (key string, value []byte, ok bool) {
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

// Clone returns a copy that goes its own way. Values are never written into.
func (s *Store) Clone() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Store{applied: s.applied, pages: make([]*page, len(s.pages))}
	for i, p := range s.pages {
		c.pages[i] = &page{keys: slices.Clone(p.keys), values: slices.Clone(p.values)}
	}
	return c
}
