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

// Log is an open write-ahead log. Its methods are safe for concurrent use. Appends run one at a time;
// truncation and readers do not wait for appends.
type Log struct {
	opts Options  // with defaults and an absolute Dir; never changes
	lock *dirLock // taken by Open, released by Close
	id   uint64   // the log id of BASE and of each frame; never changes

	// writing is held during each append and its sync. It guards the four fields below.
	writing sync.Mutex
	journal journal    // open at the last segment; roll replaces it
	chain   *chain     // of the frames written, whose last is durable
	space   spaceGuard // asked before each frame
	buf     []byte     // the frame that is being written; reused, so at most maxFrame bytes

	// trimming is held during a truncation, and while SaveTail reads segments that a truncation would
	// remove. It is separate from writing so that neither delays an append. A goroutine that needs both
	// locks takes trimming first.
	trimming sync.Mutex

	// listing is held while SEGMENTS is written. A goroutine that needs several locks takes it last. It
	// guards listed, which is the content of the file.
	listing sync.Mutex
	listed  segmentList

	state state
	meter meter
}

// state holds what readers of the log may ask while an append is under way. Its lock is never held
// during a system call, so a query never waits for the disk.
//
// Invariants: segments is never empty, the first begins after base and each later one where the one
// before it ends; last and the segments' bytes cover durable commits only.
type state struct {
	mu       sync.Mutex
	base     Position
	last     Position
	segments []segment
	appeared int   // segments that Open found, and those created since; a truncation does not lower it
	fatal    error // wraps ErrPoisoned after a failure; nil before
	closed   bool
}

// First returns the LSN of the first kept commit; Last().LSN+1 if none is kept.
func (l *Log) First() LSN { return l.Base().LSN + 1 }

// Base returns the position before the first kept commit. A copy of this log starts there.
func (l *Log) Base() Position {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.base
}

// Last returns the position of the last durable commit, or Base if the log keeps none. A commit up to
// this position survives a crash.
func (l *Log) Last() Position {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.last
}

// Segments returns the number of segment files that Open found plus those created since. It never falls,
// so a caller can use it to see that a segment was completed.
func (l *Log) Segments() int {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.appeared
}

// Close ends all writing and reading, records what is durable as MarkDurable does, and releases the
// directory. It waits for an append or a truncation that is under way. Every acknowledged commit was
// durable before Close, so an error of Close puts none in doubt. For a poisoned log it returns
// ErrPoisoned with the first failure. A second Close does nothing and returns nil.
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
	// A poisoned log leaves SEGMENTS as it is: a disk that has failed once must not be asked to replace a
	// file on which the next Open relies.
	if fatal != nil {
		err = fatal // further errors of files that already failed add nothing
	}
	if err == nil {
		err = l.writeList()
	}
	return errors.Join(err, l.lock.release())
}

// usable returns nil if the log accepts changes, otherwise the reason why it does not: ErrClosed or
// ErrPoisoned.
func (s *state) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return s.fatal
}

// close marks the log as closed. It returns whether it was open, and the failure that poisoned it, if
// one did.
func (s *state) close() (wasOpen bool, fatal error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wasOpen, s.closed = !s.closed, true
	return wasOpen, s.fatal
}

// poison ends all writing and returns the error to report. After a failed write the content of the file
// is unknown. After a failed sync the kernel may drop the data and report success for the next sync. In
// both cases further appends could acknowledge commits that are not on disk. For the same reason Open
// rewrites the last segment: the bytes it reads may be in the page cache only.
func (l *Log) poison(cause error) error {
	fatal, first := l.state.poison(fmt.Errorf("%w: %w", ErrPoisoned, cause))
	if first {
		l.opts.Logger.Error("the log accepts no more commits",
			slog.String("dir", l.opts.Dir), slog.Any("error", cause))
	}
	return fatal
}

// poison records err if it is the first failure. It returns the first failure, and whether err is it.
func (s *state) poison(err error) (fatal error, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first = s.fatal == nil; first {
		s.fatal = err
	}
	return s.fatal, first
}

// acknowledge publishes a durable commit. rolled says that a new segment begins after it. Before this
// call no query and no Reader sees the commit, so what a reader applies or passes on cannot be lost in a
// crash. Position, size and segment change under one lock, because a Reader uses the three together.
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

// locate returns the segment that holds lsn, or io.EOF if lsn is the next one to come. The size in the
// result bounds what may be read of the file: bytes after it may be half of a frame. A poisoned log can
// still be read, since its durable part is intact.
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
