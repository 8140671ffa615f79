package snapshot

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Get returns the value under a key, as a copy that is the caller's.
func (s *Store) Get(key []byte) (value []byte, ok bool, err error) {
	v, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("snapshot: get: %w", err)
	}
	value = slices.Clone(v)
	return value, true, closer.Close()
}

// Scan calls fn for the rows in [low, high) in the order of keys, as they are at the call, until fn
// returns false or an error, which it returns. A nil high is the end of the store. The slices are fn's
// only until it returns.
func (s *Store) Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return fmt.Errorf("snapshot: scan: %w", err)
	}
	for it.First(); it.Valid(); it.Next() {
		more, err := fn(it.Key(), it.Value())
		if err != nil || !more {
			return errors.Join(err, it.Close())
		}
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return fmt.Errorf("snapshot: scan: %w", err)
	}
	return nil
}
