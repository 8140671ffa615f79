package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Get returns the value under a key as a copy that is the caller's, and whether there is one. An empty
// value that is there is empty, not nil. Reads go on after a failure of the store; damage that one
// meets is such a failure.
func (s *Store) Get(key []byte) (value []byte, ok bool, err error) {
	if !s.gate.enter() {
		return nil, false, ErrClosed
	}
	defer s.gate.leave()
	if bytes.Compare(key, firstRow) < 0 {
		return nil, false, nil
	}
	v, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("snapshot: get %x: %w", key, err)
	}
	value = append(make([]byte, 0, len(v)), v...)
	if err := closer.Close(); err != nil {
		return nil, false, fmt.Errorf("snapshot: get %x: %w", key, err)
	}
	return value, true, nil
}

// Scan calls fn for the rows in [low, high) in the order of keys, as they were when it was called,
// until fn returns false or an error, which is returned as it is. A nil low is the first row, a nil
// high is the end of the store. Key and value are fn's only until it returns, and must not be changed.
// Fn may use the store, but not close it. A scan that stays open keeps deleted files on the disk.
//
// Rows that were deleted are walked over until compactions have dropped them, so that a scan should
// begin where there are rows, not at the front of a range that was emptied.
func (s *Store) Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error {
	if !s.gate.enter() {
		return ErrClosed
	}
	defer s.gate.leave()
	if bytes.Compare(low, firstRow) < 0 {
		low = firstRow
	}
	if high != nil && bytes.Compare(low, high) >= 0 {
		return nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: slices.Clone(low), UpperBound: slices.Clone(high)})
	if err != nil {
		return fmt.Errorf("snapshot: scan: %w", err)
	}
	fnErr := walk(it, fn)
	if err := it.Close(); err != nil {
		err = fmt.Errorf("snapshot: scan: %w", err)
		return errors.Join(fnErr, err)
	}
	return fnErr
}

// walk passes the rows of an iterator to fn. A failure of the iterator ends it, and is what its Close
// returns.
func walk(it *pebble.Iterator, fn func(key, value []byte) (more bool, err error)) error {
	for valid := it.First(); valid; valid = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return nil
		}
		if more, err := fn(it.Key(), value); err != nil || !more {
			return err
		}
	}
	return nil
}
