package wal

import "fmt"

// meetStore notes the log's own position where the store is.
func (s *survey) meetStore() {
	if s.applied != nil && s.last.LSN == s.applied.LSN {
		s.there = s.last
	}
}

// checkStore compares what was verified with the store's position, as fit does. A log that ends before the
// store has lost commits that were durable, so what its tail looks like does not matter: they are damage.
func (s *survey) checkStore() error {
	switch {
	case s.applied == nil:
		return nil
	case s.applied.LSN > s.last.LSN && s.unlisted && s.cut == nil:
		return nil // given up
	case s.applied.LSN > s.last.LSN:
		next := ""
		if n := len(s.segments); s.torn == 0 && n > 0 && s.segments[n-1].bytes > 0 {
			next = fmt.Sprintf(", or the next one, %s, is missing", segmentName(s.last.LSN+1))
		}
		return s.mustReach(s.applied.LSN, "the store beside the log has applied them; the file was cut, emptied, damaged, "+
			"or replaced by an older copy of itself"+next+", or wal/ and store/ are of different moments")
	}
	return fit(s.dir, *s.applied, s.base.before, s.there)
}

// fit compares a store's position that is not beyond the log's end with the log that begins after before
// and has the position found there.
func fit(dir string, applied, before, found Position) error {
	m := &MismatchError{Dir: dir, Applied: applied}
	switch {
	case applied.LSN < before.LSN:
		m.Log, m.Reason = before, "the log begins after it: commits between them are missing"
	case found != applied:
		m.Log, m.Reason = found, "they have different histories"
	default:
		return nil
	}
	return m
}
