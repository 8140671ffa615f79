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
// It returns ErrLocked, a *CorruptionError, a *MismatchError (see Options.Applied) or ErrVersion, and has
// then changed nothing; or the error of a failed read or write, after which it may be called again. Reading a gigabyte takes
// about a second, and memory does not grow with the log.
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

// recoverDir verifies the directory and brings it in order, or makes an empty log in it. The survey
// that it returns is of what is there then.
func recoverDir(opts Options) (*survey, error) {
	return settleSurvey(opts, &survey{dir: opts.Dir, applied: opts.Applied})
}

func settleSurvey(opts Options, s *survey) (*survey, error) {
	if err := s.take(); err != nil {
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
	// Before CUT goes: the list of the longer log would miss what was cut off.
	if err := relist(opts, s); err != nil {
		return nil, err
	}
	return s, finishCut(opts, s)
}

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

// sweep removes the litter. It needs no sync of its own: litter that comes back after a crash is
// swept again.
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

// create makes an empty log. The segment is durable before BASE is, so that a log with BASE always
// has its segments; judgeNoBase relies on it. SEGMENTS comes last, so that it is never without BASE.
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

// settle makes what the survey read durable, and ready for the library.
//
// The last segment is always rewritten, even if nothing is torn: its frames may have been read from
// the page cache after a sync that failed, or that never ran, and syncing again would not prove
// them durable. A copy of them that is synced does. A crash on the way leaves the old file or the
// new one.
//
// A full segment is followed by an empty one here, as the library does only after the next write,
// so that Append can tell from the size alone when a segment begins.
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

// addSegment creates an empty segment and makes its name durable.
func addSegment(opts Options, seg segment) error {
	if err := opts.disk.write(filepath.Join(opts.Dir, seg.name()), bytes.NewReader(nil)); err != nil {
		return err
	}
	return opts.disk.syncDir(opts.Dir)
}

// rewrite replaces the last segment by a copy of its durable part. The copy is verified before it
// takes the old one's place: after a failed sync the kernel may have dropped the pages that the
// survey read, and read the file anew for the copy.
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
