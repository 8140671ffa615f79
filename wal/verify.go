package wal

import (
	"errors"
	"fmt"
	"slices"
)

// Report is what Verify found.
type Report struct {
	Base     Position // the position before the first kept commit
	Last     Position // of the last whole commit; Base if there is none
	Segments int
	Frames   uint64
	Bytes    int64 // of whole frames
	// TornBytes follow the last whole frame of the last segment, and neither SEGMENTS nor the store that
	// it was compared with knows of a commit there. Open would cut them off.
	TornBytes int64
	// Listed is how many segments the SEGMENTS file names; 0 if there is none, as an older release left it.
	Listed int
	// Watermark is the position up to which that file says that the log was durable.
	Watermark Position
	// Litter names the files that interrupted operations left. Open would remove them.
	Litter []string
}

// Verify reads the log in dir from end to end and changes nothing. It returns a *CorruptionError,
// ErrVersion, ErrLocked while the log is open, or the error of a failed read; the report then tells
// how far the log was intact. An empty directory has a zero report. It needs a few MiB of memory,
// whatever the size of the log.
//
// The log is judged alone. VerifyBeside is for one whose store is there.
func Verify(dir string) (Report, error) { return VerifyBeside(dir, nil) }

// VerifyBeside is Verify for a log beside a store that has applied this position, as Options.Applied says:
// a log that does not reach so far is damaged, and one that does not fit is a *MismatchError.
func VerifyBeside(dir string, applied *Position) (Report, error) {
	s, err := surveyOffline(&survey{dir: dir, applied: applied})
	if err != nil {
		err = fmt.Errorf("verify log: %w", err)
	}
	return s.report(), err
}

// Dump calls fn for each commit of the log in dir from LSN from on (0 means the first that is
// kept), in order. The payload is valid during the call. It verifies as Verify does, and so has
// called fn for every commit before the damage it reports; an error of fn ends it and is returned,
// wrapped. A torn tail is passed over.
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

func surveyOffline(s *survey) (*survey, error) {
	lock, err := lockShared(s.dir)
	if err != nil {
		return &survey{}, err
	}
	return s, errors.Join(s.take(), lock.release())
}

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
