package wal

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
)

// TruncateFront removes commits before keepFrom, in whole segments: it removes a segment if its last LSN
// is below keepFrom, and never the segment that is written to. It returns ErrOutOfRange if keepFrom is
// above Last().LSN+1; if keepFrom is below First it does nothing. Appends may go on meanwhile. Readers
// of removed commits get ErrOutOfRange.
//
// The caller must have made the effects of these commits durable elsewhere. A crash at any point leaves
// either all of them or none. A failed write or removal poisons the log, and TruncateFront returns
// ErrPoisoned.
func (l *Log) TruncateFront(keepFrom LSN) error {
	l.trimming.Lock()
	defer l.trimming.Unlock()
	gone, before, err := l.state.before(keepFrom)
	if err != nil {
		return fmt.Errorf("truncate: %w", err)
	}
	if len(gone) == 0 {
		return nil
	}
	if err := l.giveUp(gone, before); err != nil {
		return l.poison(fmt.Errorf("truncate to LSN %d: %w", before.LSN, err))
	}
	l.opts.Logger.Debug("truncated the log", slog.Int("segments", len(gone)), slog.Uint64("first", before.LSN+1))
	return nil
}

// giveUp moves the base and then removes the files. Until BASE is durable, all of the segments belong to
// the log; once it is, the segments before it do not, even while their files exist. Open completes an
// interrupted removal. In the other order a crash would leave a log whose first commits are missing, which
// is what damage looks like.
func (l *Log) giveUp(gone []segment, before Position) error {
	d, dir := l.opts.disk, l.opts.Dir
	b := base{logID: l.id, before: before, listed: true}
	if err := replace(d, dir, baseName, bytes.NewReader(b.encode())); err != nil {
		return fmt.Errorf("write %s: %w", baseName, err)
	}
	l.state.rebase(before, len(gone))
	for _, seg := range gone {
		if err := d.remove(filepath.Join(dir, seg.name())); err != nil {
			return fmt.Errorf("remove segment: %w", err)
		}
	}
	return l.writeList() // which syncs the directory
}

// before returns the segments that a truncation may drop, and the position after them.
func (s *state) before(keepFrom LSN) ([]segment, Position, error) {
	if err := s.usable(); err != nil {
		return nil, Position{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if keepFrom > s.last.LSN+1 {
		return nil, Position{}, fmt.Errorf("%w: %d, the last is %d", ErrOutOfRange, keepFrom, s.last.LSN)
	}
	n := 0
	for n+1 < len(s.segments) && s.segments[n+1].first() <= keepFrom {
		n++
	}
	return s.segments[:n:n], s.segments[n].before, nil
}

// rebase removes the first n segments from the state. It copies the slice: slicing off the front would
// keep the array of the removed elements alive, and the caller still reads the old slice.
func (s *state) rebase(before Position, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = before
	s.segments = slices.Clone(s.segments[n:])
}
