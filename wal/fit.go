package wal

import "fmt"

// noteApplied records the log's own position at the LSN that the store has applied, for checkStore. The
// survey calls it for the base and after each frame, so that the comparison needs no second pass.
func (s *survey) noteApplied() {
	if s.applied != nil && s.last.LSN == s.applied.LSN {
		s.atApplied = s.last
	}
}

// checkStore compares the verified log with the store's position, as fit does. A log that ends before
// the store has lost durable commits: that is damage, even if its tail looks torn.
func (s *survey) checkStore() error {
	switch {
	case s.applied == nil:
		return nil
	case s.applied.LSN > s.last.LSN && s.unlisted && s.cut == nil:
		return nil // the operator has given up what is missing
	case s.applied.LSN > s.last.LSN:
		next := ""
		if n := len(s.segments); s.torn == 0 && n > 0 && s.segments[n-1].bytes > 0 {
			next = fmt.Sprintf(", or the next one, %s, is missing", segmentName(s.last.LSN+1))
		}
		return s.mustReach(s.applied.LSN, "the store beside the log has applied them; the file was cut, emptied, damaged, "+
			"or replaced by an older copy of itself"+next+", or wal/ and store/ are of different moments")
	}
	return fit(s.dir, *s.applied, s.base.before, s.atApplied)
}

// fit checks that a store at the position applied fits a log. before is the log's base, and found is the
// log's position at applied's LSN, which must not be after the log's end.
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
