package wal

import (
	"errors"
	"fmt"
)

// CheckApplied compares the log with the position that the store has applied; the zero position is
// an empty store. Call it after Open and before the replay: it is the only guard against commits
// that are missing at the log's end, a lost last segment among them, and against a log of another
// history.
//
// It returns a *MismatchError if the log ends before applied, begins after the commit that follows
// applied, or has another commit at that LSN; or the error of a read. It reads at most one segment.
func (l *Log) CheckApplied(applied Position) error {
	base, last := l.Base(), l.Last()
	if applied.LSN > last.LSN {
		return l.mismatch(applied, last, "the log ends before it: durable commits are missing")
	}
	if applied.LSN < base.LSN {
		return l.mismatch(applied, base, "the log begins after it: commits between them are missing")
	}
	found, err := l.PositionOf(applied.LSN)
	if err != nil {
		return fmt.Errorf("check applied: %w", err)
	}
	if found != applied {
		return l.mismatch(applied, found, "they have different histories")
	}
	return nil
}

func (l *Log) mismatch(applied, found Position, reason string) error {
	return &MismatchError{Dir: l.opts.Dir, Applied: applied, Log: found, Reason: reason}
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
