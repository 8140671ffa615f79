package wal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
)

// CutTail removes the commits after keep from the end of the log in opts.Dir and returns their number.
// The log must not be open. Before it removes the commits it writes them to the new file saveAs, which
// must be outside the directory; DumpFile reads that file, and SaveTail describes its content and the
// errors. If the log ends at keep or before, CutTail changes nothing and writes no file.
//
// It takes the lock and begins as Open does, with all of Open's repairs and errors. It returns
// ErrOutOfRange if keep is below First-1. A crash or a failure at any point leaves either the whole log
// or the log that ends at keep. If the log ends at keep, the file saveAs is complete; the file may also
// exist beside the whole log.
//
// The caller must know that no store has applied these commits: their effects could not be removed.
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

// cutLocked saves the commits, writes the file CUT, and removes the commits.
//
// The commits may extend over several files, which cannot change in one step: in any order, a crash
// between two of them would leave a log with a hole or a partial cut. So the file CUT comes first. Until
// it is durable, all commits belong to the log. Once it is durable, the commits after its position do
// not, whichever files still hold them. The remaining steps remove those commits and then CUT; Open
// completes them if a crash interrupts them.
func cutLocked(opts Options, keep LSN, saveAs string) (int, error) {
	s, err := recoverDir(opts)
	if err != nil {
		return 0, err
	}
	r, err := findLogTail(opts.Dir, s.base, s.segments, keep, s.last)
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

// finishCut removes the file CUT, the last step of a cut. Before it, sweep has removed the segments
// after the cut and settle has rewritten the last segment up to it. settle's sync of the directory makes
// both durable before CUT is removed; otherwise a crash could bring the commits back without the file
// that voids them.
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

// readCut reads the position at which an unfinished cut ends the log.
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

// dropCutOff returns the segments without those that begin after the cut, and adds the latter to the
// litter: their content no longer matters. The first segment stays even if the cut removes all of its
// commits, because a log always has a segment.
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

// checkCut checks that the verified frames end where the log was cut.
func (s *survey) checkCut() error {
	if s.cut == nil || s.last == *s.cut {
		return nil
	}
	return s.gap("the log was cut at %v and now ends at %v", *s.cut, s.last)
}
