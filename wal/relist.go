package wal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
)

// Relisted says what Relist has given up.
type Relisted struct {
	Listed    bool     // SEGMENTS existed and could be read
	Watermark Position // of that list
	Ended     Position // the last commit that the log still had
	// Last is the position that the next commit follows: Ended, or the store's position if that is later.
	// The store has the commits between the two; commits after Last are lost.
	Last Position
}

// Relist accepts the segments that exist in opts.Dir as the whole log and rewrites SEGMENTS accordingly:
// commits that SEGMENTS says existed are given up. It is for an operator who has lost the newest
// segment, its end, or SEGMENTS itself, and has no copy to restore.
//
// With opts.Applied, a log that ends before the store continues after the store: BASE becomes the
// store's position, and the older commits, which the store has applied, leave the log. This works even
// if no segment is left. Without opts.Applied the log may end before the store; the next Open with
// Options.Applied then reports it.
//
// It takes the lock and begins as Open does, with all of Open's repairs and its other errors: a hole, a
// damaged frame before an intact one, a missing BASE and a store of another history remain errors. After
// a crash or an error it may be called again.
func Relist(opts Options) (done Relisted, err error) {
	opts, err = opts.withDefaults().validate()
	if err != nil {
		return done, err
	}
	if err := checkIsLog(opts.Dir); err != nil {
		return done, fmt.Errorf("list the segments anew: %w", err)
	}
	lock, err := lockExclusive(opts.Dir)
	if err != nil {
		return done, fmt.Errorf("list the segments anew: %w", err)
	}
	if list, err := loadList(opts.Dir); err == nil {
		done.Listed, done.Watermark = true, list.watermark
	}
	s := &survey{dir: opts.Dir, unlisted: true, applied: opts.Applied}
	_, err = settleSurvey(opts, s)
	if err := errors.Join(err, lock.release()); err != nil {
		return Relisted{}, fmt.Errorf("list the segments anew: %w", err)
	}
	done.Ended, done.Last = s.ended, s.last
	opts.Logger.Warn("listed the segments anew; what was missed is given up", slog.String("dir", opts.Dir),
		slog.Uint64("watermark", done.Watermark.LSN), slog.Uint64("ended", done.Ended.LSN), slog.Uint64("last", done.Last.LSN))
	return done, nil
}

// checkIsLog returns damage for a directory that does not hold a log, before Relist creates any file in
// it.
func checkIsLog(dir string) error {
	l, err := readLayout(dir)
	switch {
	case err != nil:
		return err
	case l.foreign != "":
		return (&survey{dir: dir}).foreign(l)
	case !l.base:
		return &CorruptionError{Dir: dir, Segment: baseName, Reason: "the file is missing"}
	}
	return nil
}

// endsBehindStore reports whether Relist must move the log's base to the store's position, because the
// log ends before the store or no segment is left.
func (s *survey) endsBehindStore() bool {
	return s.unlisted && s.applied != nil && !s.fresh && (len(s.segments) == 0 || s.last.LSN < s.applied.LSN)
}

// rebase replaces the log with an empty one that begins after the store's position.
//
// BASE comes first, so that at each moment the directory holds the old log or the new one: the old
// segments begin before the new BASE, which voids them. A crash before the new segment and its list are
// durable leaves a log that lacks them; the operator then calls Relist again.
func rebase(opts Options, s *survey) error {
	old := s.segments
	s.base.before, s.last = *s.applied, *s.applied
	s.segments = []segment{{before: s.last}}
	if err := replace(opts.disk, opts.Dir, baseName, bytes.NewReader(s.base.encode())); err != nil {
		return fmt.Errorf("write %s: %w", baseName, err)
	}
	for _, seg := range old {
		if err := opts.disk.remove(filepath.Join(opts.Dir, seg.name())); err != nil {
			return fmt.Errorf("remove segment: %w", err)
		}
	}
	if err := addSegment(opts, s.segments[0]); err != nil {
		return err
	}
	return relist(opts, s)
}
