package wal

import (
	"errors"
	"fmt"
	"slices"
)

// Report is the result of Verify.
type Report struct {
	Base     Position // the position before the first kept commit
	Last     Position // of the last whole commit; Base if there is none
	Segments int
	Frames   uint64
	Bytes    int64 // of whole frames
	// TornBytes is the number of bytes after the last whole frame of the last segment, if neither SEGMENTS
	// nor the store that the log was compared with shows that a commit was there. Open would cut them off.
	TornBytes int64
	// Listed is the number of segments that SEGMENTS names; 0 if the file does not exist, as in a log of
	// an older release.
	Listed int
	// Watermark is the position up to which SEGMENTS says that the log was durable.
	Watermark Position
	// Litter names the files that interrupted operations left. Open would remove them.
	Litter []string
}

// Verify reads the whole log in dir and changes nothing. It returns a *CorruptionError, ErrVersion,
// ErrLocked while the log is open, or the error of a failed read; the report then describes the intact
// part before the error. An empty directory has a zero report. Verify needs a few MiB of memory,
// whatever the size of the log.
//
// It verifies the log without a store. VerifyBeside also compares the log with its store.
func Verify(dir string) (Report, error) { return VerifyBeside(dir, nil) }

// VerifyBeside is Verify for a log beside a store that has applied the position applied; see
// Options.Applied. A log that ends before applied is damaged, and a log that does not fit gives a
// *MismatchError. Nil is the same as Verify.
func VerifyBeside(dir string, applied *Position) (Report, error) {
	s, err := surveyOffline(&survey{dir: dir, applied: applied})
	if err != nil {
		err = fmt.Errorf("verify log: %w", err)
	}
	return s.report(), err
}

// Dump calls fn, in order, for each commit of the log in dir whose LSN is at least from; 0 means all.
// The payload is valid only during the call. Dump verifies as Verify does, and has called fn for every
// commit before the damage that it reports. An error of fn ends Dump, which returns it wrapped. Dump
// ignores a torn tail.
func Dump(dir string, from LSN, fn func(Frame) error) error {
	_, err := surveyOffline(&survey{dir: dir, visit: func(f Frame) error {
		if f.LSN < from {
			return nil
		}
		return fn(f)
	}})
	if err != nil {
		return fmt.Errorf("dump log: %w", err)
	}
	return nil
}

// surveyOffline runs a survey while it holds the shared lock, which several readers can have at once. After
// an error the survey has what was verified.
func surveyOffline(s *survey) (*survey, error) {
	lock, err := lockShared(s.dir)
	if err != nil {
		return &survey{}, err
	}
	return s, errors.Join(s.run(), lock.release())
}

// report returns what the survey has found so far. CUT counts as litter: Open completes the cut and removes
// it.
func (s *survey) report() Report {
	r := Report{
		Base:      s.base.before,
		Last:      s.last,
		Segments:  len(s.segments),
		Frames:    s.frames,
		TornBytes: s.torn,
		Litter:    s.litter,
	}
	for _, seg := range s.segments {
		r.Bytes += seg.bytes
	}
	if s.list != nil {
		r.Listed, r.Watermark = len(s.list.firsts), s.list.watermark
	}
	if s.cut != nil {
		r.Litter = append(slices.Clone(s.litter), cutName)
	}
	return r
}
