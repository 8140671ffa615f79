package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// survey is the result of a complete, read-only pass over a directory. Open, Verify and Dump all begin
// with one, and Open changes no file before its survey has succeeded.
type survey struct {
	dir  string
	base base
	// cut is the position at which an unfinished cut ends the log; nil if there is none. Frames after it
	// in the segments do not belong to the log.
	cut *Position
	// list is the content of SEGMENTS; nil for a log of an older release, and for one whose creation was
	// interrupted before SEGMENTS was written.
	list *segmentList
	// unlisted is set by Relist: the segments that exist are accepted as the whole log, whatever SEGMENTS
	// and the store say about its end. With a store, a log without any segment is accepted too.
	unlisted bool
	// applied is the position of the store beside the log; nil if it is not known. atApplied is the log's
	// own position with that LSN; zero if the log does not have it.
	applied   *Position
	atApplied Position
	// fresh means that the directory never held a complete log: it is empty, or holds the files of an
	// interrupted creation.
	fresh bool
	// litter names the files that interrupted operations left: unfinished files, and segments that a
	// truncation or a cut has given up. They may be removed, in any order.
	litter   []string
	segments []segment // the kept ones, in order; at least one unless fresh
	last     Position  // of the newest verified frame; the base before the first
	ended    Position  // last as it was read, before a relist may have moved it to the store's position
	frames   uint64    // verified frames
	torn     int64     // bytes after the last whole frame of the last segment
	visit    func(Frame) error
}

// run verifies the log in dir and calls visit with each frame, unless visit is nil. Its memory is one
// scan buffer, whatever the size of the log. After an error the survey holds what was verified before
// the error.
//
// BASE and CUT are read first, because they decide which segments belong to the log at all: a segment that
// was given up may be damaged and must not fail the start. The end of the log is judged last, when every
// frame is known.
func (s *survey) run() error {
	l, err := readLayout(s.dir)
	if err != nil {
		return err
	}
	s.litter = l.temps
	if l.foreign != "" {
		return s.foreign(l)
	}
	if !l.base && !l.cut && !l.list { // BASE exists before a cut can begin
		return cmp.Or(s.judgeNoBase(l), s.checkStore())
	}
	if s.base, err = readBase(s.dir, baseName, baseMagic); err != nil {
		return err
	}
	if l.cut {
		if err := s.readCut(); err != nil {
			return err
		}
	}
	firsts := s.dropCutOff(s.dropGivenUp(l.segments))
	missing := s.readList(l, firsts) // reported first: it names the lost file, the walk only the place of the gap
	s.last = s.base.before
	s.noteApplied()
	if err := cmp.Or(missing, s.walkAll(firsts)); err != nil {
		return err
	}
	if err := s.checkCut(); err != nil {
		return err
	}
	return cmp.Or(s.checkWatermark(), s.checkStore())
}

// judgeNoBase is called for a directory without BASE. It distinguishes an interrupted creation from a
// lost BASE file. Creation makes an empty segment durable, then BASE, and then SEGMENTS; a commit is
// accepted only after that. So an interrupted creation without BASE leaves at most one empty segment.
func (s *survey) judgeNoBase(l layout) error {
	for _, first := range l.segments {
		name := segmentName(first)
		info, err := os.Stat(filepath.Join(s.dir, name))
		if err != nil {
			return err
		}
		if info.Size() > 0 || len(l.segments) > 1 {
			return &CorruptionError{Dir: s.dir, Segment: baseName, LSN: l.segments[0], Reason: "the file is missing"}
		}
		s.litter = append(s.litter, name)
	}
	s.fresh = true
	return nil
}

// dropGivenUp returns the segments without those before the base, and adds the latter to the litter.
// TruncateFront replaces BASE first and removes them afterwards, so an interrupted truncation has left
// them, and their content no longer matters.
func (s *survey) dropGivenUp(firsts []LSN) []LSN {
	n, _ := slices.BinarySearch(firsts, s.base.before.LSN+1)
	for _, first := range firsts[:n] {
		s.litter = append(s.litter, segmentName(first))
	}
	return firsts[n:]
}

// walkAll verifies the kept segments in order.
func (s *survey) walkAll(firsts []LSN) error {
	if len(firsts) == 0 && s.unlisted && s.applied != nil {
		return nil
	}
	if len(firsts) == 0 {
		return s.gap("the segment is missing, and no other follows")
	}
	w := &walk{survey: s, chain: newChain(s.base), sizeMax: maxSegmentFile}
	for i, first := range firsts {
		if want := s.last.LSN + 1; first > want {
			return s.gap("the commits %d to %d are missing here, the next segment is %s: this file has lost its end, or %s is missing",
				want, first-1, segmentName(first), segmentName(want))
		} else if first < want {
			return s.gap("segment %s begins inside the segments before it", segmentName(first))
		}
		if err := w.segment(first, i == len(firsts)-1); err != nil {
			return err
		}
	}
	return nil
}

// gap returns damage at the place where the next commit belongs: the end of the verified frames, or the
// first segment if none is verified.
func (s *survey) gap(format string, args ...any) error {
	lsn := s.last.LSN + 1
	c := &CorruptionError{Dir: s.dir, Segment: segmentName(lsn), LSN: lsn, Reason: fmt.Sprintf(format, args...)}
	if n := len(s.segments); n > 0 {
		c.Segment, c.Offset = s.segments[n-1].name(), s.segments[n-1].bytes
	}
	return c
}

// walk verifies the frames of one segment after another. The chain goes on across files, so a segment
// from another log, or one that does not follow the segment before it, fails at its first frame.
type walk struct {
	survey  *survey // receives what is verified
	chain   *chain
	scanner scanner // of the open file; its buffer serves all files
	sizeMax int64   // largest size of a segment file, in bytes; MaxInt64 for files that are no segments
}

// open opens a file and sets the scanner to its beginning. The caller closes the file.
func (w *walk) open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	w.scanner.reset(f, info.Size())
	return f, nil
}

// segment verifies one file and adds it to the survey.
func (w *walk) segment(first LSN, last bool) error {
	name := segmentName(first)
	f, err := w.open(filepath.Join(w.survey.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	seg := segment{before: w.chain.last}
	err = w.frames()
	seg.bytes = w.scanner.start
	if broken := (*flaw)(nil); errors.As(err, &broken) {
		err = w.judge(broken, seg, last)
	} else if err != nil {
		err = fmt.Errorf("segment %s: frame at %d: %w", name, w.scanner.start, err)
	}
	if err == nil {
		w.survey.segments = append(w.survey.segments, seg)
	}
	return err
}

// frames admits the frames of the open segment up to its end, or up to the cut.
func (w *walk) frames() error {
	for {
		if w.survey.cut != nil && w.chain.last.LSN == w.survey.cut.LSN {
			w.scanner.start = w.scanner.offset
			return nil
		}
		raw, err := w.scanner.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		frame, err := w.chain.admit(raw)
		if err == nil && w.scanner.offset > w.sizeMax {
			err = misplaced("the segment is larger than any may be")
		}
		if err != nil {
			return err
		}
		w.survey.last = frame.Position
		w.survey.frames++
		w.survey.noteApplied()
		if err := w.survey.checkAtWatermark(); err != nil {
			return err
		}
		if w.survey.visit == nil {
			continue
		}
		if err := w.survey.visit(frame); err != nil {
			return err
		}
	}
}

// verifyCopy checks that the file at path holds exactly the frames after b up to and including last. A
// comparison of the lengths would not do, because a copy of other bytes can have the same length.
func verifyCopy(path string, b base, last Position) error {
	w := &walk{survey: &survey{}, chain: newChain(b), sizeMax: math.MaxInt64}
	f, err := w.open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := w.frames(); err != nil {
		return fmt.Errorf("the copy differs: frame at %d: %w", w.scanner.start, err)
	}
	if w.chain.last != last {
		return fmt.Errorf("the copy ends at %v instead of %v", w.chain.last, last)
	}
	return nil
}
