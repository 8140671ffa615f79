package datadir

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wal"
)

// CutTail removes the commits after keep, which the cluster has not accepted, from the end of the log, and returns the
// file in the shard's directory that has them now; "" if there are none. keep must be a position of the log, and the
// store must not be beyond it: only a join can replace what the store has applied. CutTail closes the log and opens it
// again, so the caller must keep all other users away, and readers opened before are invalid. The commits are saved
// before they are removed, since an operator may want the jobs in them. After an error the log may be closed, and the
// directory must be opened anew.
func (s *Shard) CutTail(keep job.Position) (saved string, err error) {
	if applied := s.Applied(); applied.LSN > keep.LSN {
		return "", fmt.Errorf("cut the log after %v: the store has applied %v", keep, applied)
	}
	found, err := s.log.PositionOf(keep.LSN)
	if err == nil && found != keep {
		err = fmt.Errorf("the log has %v there", found)
	}
	if err == nil {
		saved, err = s.divergedName(keep.LSN)
	}
	if err != nil {
		return "", fmt.Errorf("cut the log after %v: %w", keep, err)
	}
	if saved == "" {
		return "", nil
	}
	if err := s.log.Close(); err != nil {
		return "", err
	}
	_, err = wal.CutTail(s.logOptions(), keep.LSN, saved)
	if err := errors.Join(err, s.openLog()); err != nil {
		return "", err
	}
	return saved, nil
}

// SaveTail copies the commits of the log after the LSN after, or all that it keeps if it begins later, to a file in
// the shard's directory, and returns its path; "" if there are none. It is used before a join replaces the whole log.
// Unlike CutTail it leaves the log as it is.
func (s *Shard) SaveTail(after uint64) (saved string, err error) {
	after = max(after, s.log.Base().LSN)
	saved, err = s.divergedName(after)
	if err == nil && saved != "" {
		_, err = s.log.SaveTail(after, saved)
	}
	if err != nil {
		return "", err
	}
	return saved, nil
}

// The name of a file with commits that were cut off: the epoch and the LSN of the first, and the time, are in between.
const (
	divergedPrefix = "diverged-"
	divergedSuffix = ".frames"
)

// divergedName returns the name of the file for the commits after the LSN after; "" if there are none. The name
// contains the epoch and the LSN of the first of them, and the time in milliseconds since 1970. The time makes the
// name unique when the same commits are cut twice.
func (s *Shard) divergedName(after uint64) (string, error) {
	if after >= s.log.Last().LSN {
		return "", nil
	}
	first, err := s.log.PositionOf(after + 1)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf(divergedPrefix+"%d-%d-%d"+divergedSuffix, first.Epoch, first.LSN, time.Now().UnixMilli())
	return filepath.Join(s.dir, name), nil
}

// Adopt replaces log and store by the received store, at the position at, and opens them. The commits before it were those,
// consecutive and in their order, as far as they are known. wanted says what happens to
// the replaced data, if it has any value. After an error both are closed, and the
// directory holds either the old data or the new, which the next OpenShard finds out.
func (s *Shard) Adopt(at job.Position, before []job.Position, wanted Fate) error {
	f, err := s.fateOf(wanted)
	if err == nil {
		err = (&ancestors{at, before}).write(s.dir)
	}
	if err != nil {
		return fmt.Errorf("adopt the received store: %w", err)
	}
	if err := errors.Join(s.store.Close(), s.log.Close()); err != nil {
		return fmt.Errorf("adopt the received store: %w", err)
	}
	if err := adoptIncoming(s.dir, swap{at: at, fate: f, when: time.Now()}, s.logger); err != nil {
		return err
	}
	return s.openParts()
}
