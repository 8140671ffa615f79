package wal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
)

// CutTail removes the commits after keep from the end of the log in opts.Dir, which must not be open,
// and returns how many they were. Before that it writes them to the new file saveAs, outside of the
// directory, which DumpFile reads; see SaveTail for its content and for what it refuses. A log that
// ends at keep or before it is left as it is, and there is no file then.
//
// It takes the lock and begins as Open does, with all of Open's repairs and errors. It returns
// ErrOutOfRange if keep is below First-1. A crash or a failure at any point leaves the whole log or the
// one that ends at keep, never something between; and in the latter case the file. It may leave the
// file beside the whole log too.
//
// The caller must know that nobody depends on these commits: that no store has applied them.
func CutTail(opts Options, keep LSN, saveAs string) (cut int, err error) {
	opts, err = opts.withDefaults().validate()
	if err != nil {
		return 0, err
	}
	lock, err := lockExclusive(opts.Dir)
	if err != nil {
		return 0, fmt.Errorf("cut log: %w", err)
	}
	cut, err = cutLocked(opts, keep, saveAs)
	if err := errors.Join(err, lock.release()); err != nil {
		return 0, fmt.Errorf("cut log %s after LSN %d: %w", opts.Dir, keep, err)
	}
	return cut, nil
}

// cutLocked saves, declares the cut, and makes it.
//
// A tail may reach over several files, which cannot change at once: whatever the order, a crash
// between them would leave a log with a hole, or one that is cut in part. So the file CUT comes first.
// Once it is durable the commits after its position are no part of the log, wherever they still are;
// until then all of them are. What remains is to remove them and then CUT, and that Open can do as
// well.
func cutLocked(opts Options, keep LSN, saveAs string) (int, error) {
	s, err := recoverDir(opts)
	if err != nil {
		return 0, err
	}
	r, err := findRest(opts.Dir, s.base, s.segments, keep, s.last)
	if err != nil || r == nil {
		return 0, err
	}
	if err := r.save(opts.disk, saveAs); err != nil {
		return 0, err
	}
	mark := base{logID: s.base.logID, before: r.after}
	if err := replace(opts.disk, opts.Dir, cutName, bytes.NewReader(mark.encodeAs(cutMagic))); err != nil {
		return 0, fmt.Errorf("write %s: %w", cutName, err)
	}
	if _, err := recoverDir(opts); err != nil {
		return 0, err
	}
	opts.Logger.Warn("cut commits off the end of the log; they are kept in a file",
		slog.String("dir", opts.Dir), slog.Uint64("first", keep+1), slog.Int("commits", r.commits()), slog.String("file", saveAs))
	return r.commits(), nil
}

// finishCut ends a cut that sweep and settle have made: the segments behind the cut are removed and the
// last one is rewritten up to it. Both are durable, by the sync of the directory in settle, before CUT
// goes; otherwise a crash could bring the commits back with nothing that says they are void.
func finishCut(opts Options, s *survey) error {
	if s.cut == nil {
		return nil
	}
	if err := opts.disk.remove(filepath.Join(opts.Dir, cutName)); err != nil {
		return fmt.Errorf("finish the cut: %w", err)
	}
	s.cut = nil
	return opts.disk.syncDir(opts.Dir)
}

// readCut reads where the log was cut.
func (s *survey) readCut() error {
	c, err := readBase(s.dir, cutName, cutMagic)
	if err != nil {
		return err
	}
	if c.logID != s.base.logID || c.before.LSN < s.base.before.LSN {
		return &CorruptionError{Dir: s.dir, Segment: cutName, LSN: c.before.LSN, Reason: "the file belongs to another log"}
	}
	s.cut = &c.before
	return nil
}

// dropCutOff splits off the segments that begin behind the cut: their content no longer matters. The
// first segment stays even if nothing in it does, because a log has one.
func (s *survey) dropCutOff(firsts []LSN) []LSN {
	kept := min(1, len(firsts))
	for kept < len(firsts) && (s.cut == nil || firsts[kept] <= s.cut.LSN) {
		kept++
	}
	for _, first := range firsts[kept:] {
		s.litter = append(s.litter, segmentName(first))
	}
	return firsts[:kept]
}

// checkCut checks that what was verified ends where the log was cut.
func (s *survey) checkCut() error {
	if s.cut == nil || s.last == *s.cut {
		return nil
	}
	return s.gap("the log was cut at %v and now ends at %v", *s.cut, s.last)
}
