package wal

import (
	"errors"
	"fmt"
)

// CheckApplied compares an open log with the position that the store has applied; the zero position is
// an empty store. Options.Applied makes the same comparison before Open changes anything; this one is for
// a store that is known only later.
//
// It returns a *MismatchError if the log ends before applied, begins after the commit that follows
// applied, or has another commit at that LSN; or the error of a read. It reads at most one segment.
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

// PositionOf returns the position of a kept commit, or Base for Base's LSN. It returns ErrOutOfRange
// for any other LSN, ErrClosed, or the error of a read. It reads at most one segment.
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
