package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Get returns a copy of the value of a key, which the caller may keep and change, and whether the key
// exists. The value of an existing key is never nil. Reads still work after a failure of the store. A
// read that finds damage makes the store fail.
//
// It reads data blocks only of tables whose filter passes the key, and does not wait for writers.
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
		return nil, false, fmt.Errorf("snapshot: get %x: %w", key, s.readError(err))
	}
	// A copy, because v belongs to a block or a memtable that Pebble may free once closer is closed.
	value = append(make([]byte, 0, len(v)), v...)
	if err := closer.Close(); err != nil {
		return nil, false, fmt.Errorf("snapshot: get %x: %w", key, s.readError(err))
	}
	return value, true, nil
}

// Scan calls fn for each row in [low, high), in the order of the keys, with the state at the call of
// Scan. It ends when fn returns false or an error, and returns that error unwrapped. A nil low begins at
// the first row, a nil high ends after the last. Key and value are valid until fn returns and must not
// be changed. fn may call the store, but not Close. While a scan runs, files that it reads stay on the
// disk even if they are deleted.
//
// A scan passes over deleted rows until compactions have dropped them. So a caller should begin where
// rows exist, not at the front of a range that it has emptied.
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
		return fmt.Errorf("snapshot: scan: %w", s.readError(err))
	}
	fnErr := walk(it, fn)
	if err := it.Close(); err != nil {
		err = fmt.Errorf("snapshot: scan: %w", s.readError(err))
		return errors.Join(fnErr, err)
	}
	return fnErr
}

// walk passes the rows of an iterator to fn and returns fn's error. A failure of the iterator ends walk
// without an error; the iterator's Close returns it.
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

// readError returns the error of a read. Damage of a file is a *DamageError, and ends the store: what the file has will not come
// back by another try.
func (s *Store) readError(err error) error {
	if !pebble.IsCorruptionError(err) {
		return err
	}
	found := damaged(s.dir, libraryFile.FindString(err.Error()), err)
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		found.File = filepath.Base(info.Path)
	}
	s.fault.fail(found)
	return found
}
