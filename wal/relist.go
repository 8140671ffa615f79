package wal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
)

// Relisted is what Relist has given up.
type Relisted struct {
	Listed    bool     // there was a list that could be read
	Watermark Position // of that list
	Ended     Position // the last commit that was left of the log
	// Last is where the log ends now, and the next commit follows: Ended, or the store's position if that is
	// further on. The store has the commits between the two; what came after Last is lost.
	Last Position
}

// Relist takes what is in opts.Dir for the whole log and makes SEGMENTS say so: what that file has missed
// is given up. It is for an operator who has lost the newest segment, its end, or SEGMENTS itself, and has
// nothing to put in its place.
//
// With opts.Applied, a log that ends before the store goes on behind it: BASE becomes the store's
// position, and the older commits, which the store has, leave the log. No segment need be left for that.
// Without it the new end may be before the store, which Options.Applied finds at the next Open.
//
// It takes the lock and begins as Open does, with all of Open's repairs and its other errors: a hole, a
// damaged frame before an intact one, a missing BASE and a store of another history are refused as ever.
// After a crash or an error it may be called again.
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

// checkIsLog refuses a directory that is no log's before anything is put into it.
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

// endsBehindStore reports whether the log is to go on behind the store, because the commits between its end
// and the store are given up, or no segment is left.
func (s *survey) endsBehindStore() bool {
	return s.unlisted && s.applied != nil && !s.fresh && (len(s.segments) == 0 || s.last.LSN < s.applied.LSN)
}

// rebase makes the log one that is empty and begins after the store's position.
//
// BASE comes first, so that at each moment the directory is the old log or the new one: the old segments
// begin before the new BASE, and are given up with it. A crash before the new segment and its list are there leaves
// a log that misses them; Relist is called again then.
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
