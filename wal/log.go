package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
)

// Log is an open write-ahead log. Its methods may be called from several goroutines: appends wait
// for one another, truncation and readers wait for no append.
type Log struct {
	opts Options
	lock *dirLock
	id   uint64

	// writing is held through each append and its sync. It guards the four below.
	writing sync.Mutex
	journal journal
	chain   *chain // of the frames written, whose last is durable
	space   spaceGuard
	buf     []byte // the frame that is being written

	// trimming is held through a truncation. A goroutine that needs both takes trimming first.
	trimming sync.Mutex

	// listing is held while SEGMENTS is written; it is the last that a goroutine takes. It guards listed,
	// which is what the file says.
	listing sync.Mutex
	listed  segmentList

	state state
	meter meter
}

// state is what everybody may ask at any time. Its lock is never held during a system call.
//
// Invariants: segments is never empty, the first begins after base and each later one where the one
// before it ends; last and the segments' bytes cover durable commits only.
type state struct {
	mu       sync.Mutex
	base     Position
	last     Position
	segments []segment
	appeared int   // segments in this life, those that were there at Open included
	fatal    error // wraps ErrPoisoned, once writing has ended
	closed   bool
}

// First returns the LSN of the first kept commit; Last().LSN+1 if none is kept.
func (l *Log) First() LSN { return l.Base().LSN + 1 }

// Base returns the position before the first kept commit: where a copy of this log must start.
func (l *Log) Base() Position {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.base
}

// Last returns the position of the last durable commit, or Base if none is kept. Whatever it
// returns survives a crash.
func (l *Log) Last() Position {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.last
}

// Segments returns how many segment files have appeared in the life of this Log, the ones that Open found
// included.
func (l *Log) Segments() int {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.appeared
}

// Close ends all writing and reading, notes what is durable as MarkDurable does, and gives up the
// directory. It waits for an append or a truncation under way. Every acknowledged commit is durable before it, so its error does not put
// any in doubt; for a poisoned log it is ErrPoisoned with the first failure. A second Close does
// nothing and returns nil.
func (l *Log) Close() error {
	l.trimming.Lock()
	defer l.trimming.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	wasOpen, fatal := l.state.close()
	if !wasOpen {
		return nil
	}
	err := l.journal.Close()
	if fatal != nil {
		err = fatal // what the library says of files that already failed adds nothing
	}
	if err == nil {
		err = l.writeList()
	}
	return errors.Join(err, l.lock.release())
}

// usable returns why the log accepts no change, or nil.
func (s *state) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return s.fatal
}

func (s *state) close() (wasOpen bool, fatal error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wasOpen, s.closed = !s.closed, true
	return wasOpen, s.fatal
}

// poison ends all writing and returns the error for it. After a failed write nobody knows what the
// file holds, and after a failed sync the kernel may drop the data and report success the next
// time: going on could acknowledge commits that are not there. Open rewrites the last segment,
// because what it reads of it may be in the page cache only.
func (l *Log) poison(cause error) error {
	fatal, first := l.state.poison(fmt.Errorf("%w: %w", ErrPoisoned, cause))
	if first {
		l.opts.Logger.Error("the log accepts no more commits",
			slog.String("dir", l.opts.Dir), slog.Any("error", cause))
	}
	return fatal
}

// poison keeps the first failure, and reports whether this is it.
func (s *state) poison(err error) (fatal error, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first = s.fatal == nil; first {
		s.fatal = err
	}
	return s.fatal, first
}

// acknowledge publishes a durable commit, after which a new segment may have begun.
func (s *state) acknowledge(pos Position, entry int, rolled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = pos
	s.segments[len(s.segments)-1].bytes += int64(entry)
	if rolled {
		s.segments = append(s.segments, segment{before: pos})
		s.appeared++
	}
}

// locate returns the segment that holds lsn, or io.EOF if lsn is the next one to come.
func (s *state) locate(lsn LSN) (segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return segment{}, ErrClosed
	case lsn <= s.base.LSN || lsn > s.last.LSN+1:
		return segment{}, fmt.Errorf("%w: %d, the log keeps %d to %d", ErrOutOfRange, lsn, s.base.LSN+1, s.last.LSN)
	case lsn == s.last.LSN+1:
		return segment{}, io.EOF
	}
	i, found := slices.BinarySearchFunc(s.segments, lsn, func(seg segment, lsn LSN) int {
		return cmp.Compare(seg.first(), lsn)
	})
	if !found {
		i--
	}
	return s.segments[i], nil
}
