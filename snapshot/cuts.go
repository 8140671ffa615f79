package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// cutBytes is the size on disk of what Cuts leaves between two keys: some 30,000 small rows. Smaller parts would take
	// more look-ups; larger ones would keep more rows in memory that are read before their turn.
	cutBytes = 256 << 10
	// cutsMost bounds the parts, and the time for them to some ten milliseconds.
	cutsMost = 256
)

// Cuts returns keys that divide the rows in [low, high) into parts of about equal size on disk, in ascending order; nil if
// the rows are few. The parts may be scanned at the same time. It reads no rows but the first and the last: the indexes of
// the tables say how much is between two keys. Rows that are in no file yet do not count.
func (s *Store) Cuts(low, high []byte) (cuts [][]byte, err error) {
	if !s.gate.enter() {
		return nil, ErrClosed
	}
	defer s.gate.leave()
	if cuts, err = s.cut(low, high); err != nil {
		return nil, fmt.Errorf("snapshot: cut: %w", s.readError(err))
	}
	return cuts, nil
}

func (s *Store) cut(low, high []byte) ([][]byte, error) {
	first, last, err := s.ends(low, high)
	if err != nil || bytes.Compare(first, last) >= 0 {
		return nil, err
	}
	c := cutter{db: s.db}
	size, err := s.db.EstimateDiskUsage(first, last)
	if err == nil {
		err = c.divide(first, last, size, int(min(size/cutBytes, cutsMost)))
	}
	return c.cuts, err
}

// ends returns the keys of the first and the last row; nil without rows.
func (s *Store) ends(low, high []byte) (first, last []byte, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return nil, nil, err
	}
	if it.First() {
		first = slices.Clone(it.Key())
	}
	if it.Last() {
		last = slices.Clone(it.Key())
	}
	return first, last, it.Close()
}

// cutter finds keys between which the rows take about the same space.
type cutter struct {
	db   *pebble.DB
	cuts [][]byte
}

// divide divides the rows between two keys, which take size bytes, into parts. It finds the key in the middle, and then divides
// both halves: so each search is in a narrower range than the one before.
func (c *cutter) divide(low, high []byte, size uint64, parts int) error {
	if parts < 2 {
		return nil
	}
	left := parts / 2
	key, before, err := c.find(low, high, size*uint64(left)/uint64(parts), size/uint64(parts)/4)
	if err != nil || key == nil {
		return err
	}
	if err := c.divide(low, key, before, left); err != nil {
		return err
	}
	c.cuts = append(c.cuts, key)
	return c.divide(key, high, size-min(before, size), parts-left)
}

// find returns a key before which the rows take about want bytes, and what they take; nil if none is nearer than the ends.
func (c *cutter) find(low, high []byte, want, tolerance uint64) (key []byte, before uint64, err error) {
	from := low
	for {
		middle := between(low, high)
		if middle == nil {
			return key, before, nil
		}
		key = middle
		if before, err = c.db.EstimateDiskUsage(from, key); err != nil {
			return nil, 0, err
		}
		switch {
		case before+tolerance < want:
			low = key
		case before > want+tolerance:
			high = key
		default:
			return key, before, nil
		}
	}
}

// between returns a key about halfway between two keys, by the first eight bytes after those that they have in common; nil
// if there is none.
func between(low, high []byte) []byte {
	same := 0
	for same < min(len(low), len(high)) && low[same] == high[same] {
		same++
	}
	a, b := eight(low[same:]), eight(high[same:])
	middle := a + (b-a)/2
	if a >= b || middle == a {
		return nil
	}
	return binary.BigEndian.AppendUint64(slices.Clone(low[:same]), middle)
}

// eight returns the first eight bytes as a number, with zeros in place of those that are missing.
func eight(b []byte) uint64 {
	var padded [8]byte
	copy(padded[:], b)
	return binary.BigEndian.Uint64(padded[:])
}
