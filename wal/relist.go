package wal

import (
	"errors"
	"fmt"
	"log/slog"
)

// Relist takes what is in opts.Dir for the whole log and makes SEGMENTS say so: what that file has missed
// is given up. It is for an operator who has lost the newest segment, its end, or SEGMENTS itself, and has
// nothing to put in its place. It returns the watermark that was there, zero if it cannot be read, and
// where the log ends now: the commits between them are lost.
//
// It takes the lock and begins as Open does, with all of Open's repairs and its other errors: a hole, a
// damaged frame and a missing BASE are refused as ever. The caller's store may not be ahead of the new
// end; CheckApplied finds that.
func Relist(opts Options) (was, ends Position, err error) {
	opts, err = opts.withDefaults().validate()
	if err != nil {
		return was, ends, err
	}
	if err := checkIsLog(opts.Dir); err != nil {
		return was, ends, fmt.Errorf("list the segments anew: %w", err)
	}
	lock, err := lockExclusive(opts.Dir)
	if err != nil {
		return was, ends, fmt.Errorf("list the segments anew: %w", err)
	}
	if list, err := loadList(opts.Dir); err == nil {
		was = list.watermark
	}
	s, err := settleSurvey(opts, &survey{dir: opts.Dir, unlisted: true})
	if err := errors.Join(err, lock.release()); err != nil {
		return was, ends, fmt.Errorf("list the segments anew: %w", err)
	}
	opts.Logger.Warn("listed the segments anew; what was missed is given up",
		slog.String("dir", opts.Dir), slog.Uint64("watermark", was.LSN), slog.Uint64("last", s.last.LSN))
	return was, s.last, nil
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
