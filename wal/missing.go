package wal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// readList reads SEGMENTS and compares it with the names in the directory: each listed segment must
// exist, unless a truncation or a cut has given it up.
func (s *survey) readList(l layout, firsts []LSN) error {
	if s.unlisted {
		return nil
	}
	if !l.list {
		return s.judgeNoList(l)
	}
	list, err := loadList(s.dir)
	if err != nil {
		return err
	}
	if list.logID != s.base.logID {
		return &CorruptionError{Dir: s.dir, Segment: listName, Reason: "the file belongs to another log than " + baseName}
	}
	if begins := s.base.before.LSN + 1; list.first > begins {
		return &CorruptionError{Dir: s.dir, Segment: baseName, LSN: begins, Reason: fmt.Sprintf(
			"the file is an older copy of itself: it begins the log at LSN %d, and %s says that it begins at %d",
			begins, listName, list.first)}
	}
	s.list = list
	for _, first := range list.firsts {
		if s.gaveUp(first) || slices.Contains(firsts, first) {
			continue
		}
		return &CorruptionError{Dir: s.dir, Segment: segmentName(first), LSN: first,
			Reason: "the segment is missing, and " + listName + " lists it"}
	}
	return nil
}

// gaveUp reports whether a truncation or a cut has given up the segment that begins at first. Both write
// their own file before SEGMENTS, so after a crash the list may still name such segments.
func (s *survey) gaveUp(first LSN) bool {
	return first <= s.base.before.LSN || s.cut != nil && first > s.cut.LSN
}

// judgeNoList is called for a directory without SEGMENTS. It returns damage if the log had a list. A log
// of an older release has none, and neither has one whose creation was interrupted; the latter has no
// commit, because creation writes the list before a commit is accepted.
func (s *survey) judgeNoList(l layout) error {
	if !s.base.listed {
		return nil
	}
	empty := len(l.segments) == 1
	for _, first := range l.segments {
		info, err := os.Stat(filepath.Join(s.dir, segmentName(first)))
		if err != nil {
			return err
		}
		empty = empty && info.Size() == 0
	}
	if empty {
		return nil
	}
	return &CorruptionError{Dir: s.dir, Segment: listName, Reason: "the file is missing: without it the loss of the newest commits would not be seen"}
}

// loadList reads SEGMENTS.
func loadList(dir string) (*segmentList, error) {
	f, err := os.Open(filepath.Join(dir, listName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, listBytesMin+listedMax*listEntryBytes+1))
	if err != nil {
		return nil, err
	}
	list, err := decodeList(raw)
	if broken := (*flaw)(nil); errors.As(err, &broken) {
		return nil, &CorruptionError{Dir: dir, Segment: listName, Reason: broken.reason}
	}
	return &list, err
}

// checkAtWatermark compares the frame that was verified last with the watermark, if it is the one.
func (s *survey) checkAtWatermark() error {
	if s.list == nil || s.last.LSN != s.list.watermark.LSN || s.last == s.list.watermark {
		return nil
	}
	return misplaced("the frame is another commit than the one that %s says was durable: %v, want %v",
		listName, s.last, s.list.watermark)
}

// checkWatermark checks that the log reaches the watermark of SEGMENTS. If it does not, the last segment
// has lost its end: readList has already reported a listed segment that does not exist. With a store
// beyond the watermark it checks nothing, because checkStore asks for more.
func (s *survey) checkWatermark() error {
	if s.list == nil || s.cut != nil || s.applied != nil && s.applied.LSN > s.list.watermark.LSN {
		return nil
	}
	return s.mustReach(s.list.watermark.LSN, listName+" says that they were durable; "+
		"the file was cut, emptied, damaged, or replaced by an older copy of itself")
}

// mustReach returns damage if the log ends before the LSN end; why says how it is known that those
// commits existed. The bytes after the last whole commit are then not a torn tail, so they are not cut
// off.
func (s *survey) mustReach(end LSN, why string) error {
	if s.last.LSN >= end {
		return nil
	}
	rest := ""
	if s.torn > 0 {
		rest = fmt.Sprintf(", and its last %d bytes are not a whole commit", s.torn)
		s.torn = 0
	}
	return s.gap("the commits %d to %d are missing%s: %s", s.last.LSN+1, end, rest, why)
}

// foreign returns damage for a file name that does not belong to a log. Causes are a damaged file
// system, a file that the library would take for its own, and a file of the log that was renamed; for
// the last case the error names the file that is missing.
func (s *survey) foreign(l layout) error {
	c := &CorruptionError{Dir: s.dir, Segment: l.foreign, Reason: foreignReason(l.foreign)}
	missing := ""
	list, err := loadList(s.dir)
	switch {
	case !l.base:
		missing = baseName
	case !l.list:
		missing = listName
	case err == nil:
		for _, first := range list.firsts {
			if !slices.Contains(l.segments, first) {
				missing = segmentName(first)
				break
			}
		}
	}
	if missing != "" {
		c.Reason += "; " + missing + " is missing: if this file is that one, rename it to that name"
	}
	return c
}
