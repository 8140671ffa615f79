package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// Open opens the log in opts.Dir, or creates it. It takes the directory's lock, verifies every
// frame, and only then changes anything: it removes what an interrupted operation left, cuts off a
// torn tail, and rewrites the last segment.
//
// It returns ErrLocked, a *CorruptionError, a *MismatchError (see Options.Applied) or ErrVersion if it
// has changed nothing. It returns other errors for failed reads and writes; the caller may call it
// again. Open reads the whole log, about a gigabyte in a second, and its memory does not grow with the
// log.
func Open(opts Options) (*Log, error) {
	opts, err := opts.withDefaults().validate()
	if err != nil {
		return nil, err
	}
	if err := makeDir(opts.Dir, opts.disk); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	lock, err := lockExclusive(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l, err := openLocked(opts)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", errors.Join(err, lock.release()))
	}
	l.lock = lock
	return l, nil
}

// makeDir creates dir unless it exists, and makes its name durable.
func makeDir(dir string, d disk) error {
	err := os.Mkdir(dir, dirMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(dir))
}

// openLocked opens the log in a directory whose lock is held. Before it accepts appends, it compares the
// end that the library found with the end that the survey verified: the library counts length prefixes
// and verifies nothing, and it refuses any index but the one after its own end.
func openLocked(opts Options) (*Log, error) {
	s, err := recoverDir(opts)
	if err != nil {
		return nil, err
	}
	j, err := opts.disk.journal(opts.Dir, opts.SegmentBytes)
	if err != nil {
		return nil, err
	}
	if got, err := j.LastIndex(); err != nil || got != s.last.LSN {
		differs := fmt.Errorf("the library ends the log at %d, its frames at %d", got, s.last.LSN)
		return nil, errors.Join(differs, err, j.Close())
	}
	return newLog(opts, s, j), nil
}

// recoverDir verifies the directory and completes interrupted operations, or creates an empty log in it.
// The survey that it returns describes the result.
func recoverDir(opts Options) (*survey, error) {
	return settleSurvey(opts, &survey{dir: opts.Dir, applied: opts.Applied})
}

// settleSurvey verifies the directory and then completes whatever an interrupted operation left: litter,
// a torn tail, a cut, an old SEGMENTS. It changes nothing if the verification fails.
func settleSurvey(opts Options, s *survey) (*survey, error) {
	if err := s.run(); err != nil {
		return nil, err
	}
	s.ended = s.last
	if err := sweep(opts, s); err != nil {
		return nil, err
	}
	if s.endsBehindStore() {
		return s, rebase(opts, s)
	}
	if s.fresh {
		return s, create(opts, s)
	}
	if err := settle(opts, s); err != nil {
		return nil, err
	}
	// The list comes before CUT is removed: the list of the longer log names commits that were cut off.
	if err := relist(opts, s); err != nil {
		return nil, err
	}
	return s, finishCut(opts, s)
}

// newLog returns the log that a survey has verified and settle has made durable.
func newLog(opts Options, s *survey, j journal) *Log {
	c := newChain(s.base)
	c.last = s.last
	return &Log{
		opts:    opts,
		id:      s.base.logID,
		listed:  *s.list,
		journal: j,
		chain:   c,
		space:   spaceGuard{disk: opts.disk, dir: opts.Dir, reserve: opts.ReserveBytes},
		state:   state{base: s.base.before, last: s.last, segments: s.segments, appeared: len(s.segments)},
	}
}

// sweep removes the litter. It needs no sync: if a crash brings litter back, the next Open removes it
// again.
func sweep(opts Options, s *survey) error {
	for _, name := range s.litter {
		opts.Logger.Info("removed a file that an interrupted operation left",
			slog.String("dir", opts.Dir), slog.String("file", name))
		if err := opts.disk.remove(filepath.Join(opts.Dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// create makes an empty log. The segment is durable before BASE is, so that a log with BASE always has a
// segment; judgeNoBase relies on this. SEGMENTS comes last, so that it never exists without BASE.
func create(opts Options, s *survey) error {
	s.base = base{logID: newLogID(), before: opts.Start, listed: true}
	s.last = opts.Start
	s.segments = []segment{{before: opts.Start}}
	if err := addSegment(opts, s.segments[0]); err != nil {
		return err
	}
	if err := replace(opts.disk, opts.Dir, baseName, bytes.NewReader(s.base.encode())); err != nil {
		return err
	}
	return relist(opts, s)
}

// settle makes durable what the survey read, and leaves the last segment as the library needs it.
//
// It always rewrites the last segment, even if nothing is torn. The survey may have read its frames from
// the page cache after a sync that failed or never ran, and a further sync would not prove them durable.
// A synced copy does. A crash during the rewrite leaves the old file or the new one.
//
// If the last segment is full, settle adds an empty one. The library would do so only at the next write;
// doing it here lets Append decide from the size alone whether a new segment begins.
func settle(opts Options, s *survey) error {
	tail := s.segments[len(s.segments)-1]
	if s.torn > 0 {
		opts.Logger.Warn("cut a torn tail off the log: no later commit shows that it was durable",
			slog.String("dir", opts.Dir), slog.String("segment", tail.name()),
			slog.Int64("offset", tail.bytes), slog.Int64("bytes", s.torn))
	}
	if err := rewrite(opts, s, tail); err != nil {
		return fmt.Errorf("rewrite segment %s: %w", tail.name(), err)
	}
	if tail.bytes < int64(opts.SegmentBytes) {
		return nil
	}
	next := segment{before: s.last}
	s.segments = append(s.segments, next)
	return addSegment(opts, next)
}

// addSegment creates an empty segment file and makes its name durable.
func addSegment(opts Options, seg segment) error {
	if err := opts.disk.write(filepath.Join(opts.Dir, seg.name()), bytes.NewReader(nil)); err != nil {
		return err
	}
	return opts.disk.syncDir(opts.Dir)
}

// rewrite replaces the last segment with a copy of its durable part. It verifies the copy before the
// rename: after a failed sync the kernel may have dropped the pages that the survey read, so that the
// copy was made from other bytes on disk.
func rewrite(opts Options, s *survey, tail segment) error {
	f, err := os.Open(filepath.Join(opts.Dir, tail.name()))
	if err != nil {
		return err
	}
	defer f.Close()
	temp := filepath.Join(opts.Dir, tail.name()+tempSuffix)
	if err := opts.disk.write(temp, io.NewSectionReader(f, 0, tail.bytes)); err != nil {
		return err
	}
	if err := verifyCopy(temp, base{logID: s.base.logID, before: tail.before}, s.last); err != nil {
		return err
	}
	if err := opts.disk.rename(temp, f.Name()); err != nil {
		return err
	}
	return opts.disk.syncDir(opts.Dir)
}
