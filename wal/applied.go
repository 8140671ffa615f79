package wal

import (
	"errors"
	"fmt"
)

// CheckApplied compares an open log with the position that the store has applied; the zero position
// stands for an empty store. Options.Applied makes the same comparison before Open changes any file.
// CheckApplied is for callers that learn the store's position only after Open.
//
// It returns a *MismatchError if the log ends before applied, if it begins after the commit that follows
// applied, or if it has a different commit at that LSN. It also returns errors of reads. It reads at
// most one segment.
func (l *Log) CheckApplied(applied Position) error {
	base, last := l.Base(), l.Last()
	if applied.LSN > last.LSN {
		return &MismatchError{Dir: l.opts.Dir, Applied: applied, Log: last, Reason: "the log ends before it: durable commits are missing"}
	}
	if applied.LSN < base.LSN {
		return fit(l.opts.Dir, applied, base, Position{})
	}
	found, err := l.PositionOf(applied.LSN)
	if err != nil {
		return fmt.Errorf("check applied: %w", err)
	}
	return fit(l.opts.Dir, applied, base, found)
}

// PositionOf returns the position of the commit lsn if the log keeps it, and Base if lsn is Base's LSN.
// It returns ErrOutOfRange for any other LSN, ErrClosed after Close, or the error of a read. It reads at
// most one segment.
func (l *Log) PositionOf(lsn LSN) (Position, error) {
	if base := l.Base(); lsn == base.LSN {
		return base, nil
	}
	if first, last := l.First(), l.Last().LSN; lsn > last {
		return Position{}, fmt.Errorf("position of LSN %d: %w: the log keeps %d to %d", lsn, ErrOutOfRange, first, last)
	}
	r, err := l.NewReader(lsn)
	if err != nil {
		return Position{}, fmt.Errorf("position of LSN %d: %w", lsn, err)
	}
	f, err := r.Next()
	if err := errors.Join(err, r.Close()); err != nil {
		return Position{}, fmt.Errorf("position of LSN %d: %w", lsn, err)
	}
	return f.Position, nil
}
