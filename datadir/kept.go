package datadir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/job"
)

// What a node puts aside when a checkpoint replaces its data. Each name begins with that of the part, such as
// store.replaced-20261122T150405.123Z.
const (
	replacedMark = ".replaced-"
	behindMark   = ".behind-"
	// In this format the order of the names is the order of the times.
	keptTime = "20060102T150405.000Z"
	// replacedMost is how many times a node puts data aside that the cluster does not have. After that an operator has
	// to remove some. Each set is as large as the data of a node. The node does not remove such sets, because they may
	// be the only copy of jobs, so a bound is needed: a node that diverges again and again must not fill its disk
	// unnoticed.
	replacedMost = 8
)

// ErrManyReplaced ends a node that would have to put data aside once more than replacedMost permits.
var ErrManyReplaced = errors.New("this node has put as much replaced data aside as it may")

// fateOf returns what happens to the data of this node when it is replaced: what the caller wants, except that a store
// without rows other than the engine's own has no value, and is removed. So an empty node that joins leaves no rubbish
// behind.
func (s *Shard) fateOf(wanted Fate) (Fate, error) {
	rows, err := s.HasRows()
	if err != nil || !rows {
		return Removed, err
	}
	return wanted, nil
}

// HasRows reports whether the store holds data of callers: jobs, calendars, runs, or unpublished notices. It stops at
// the first row. Rows of the kind before, the engine's own, exist in an empty store as well.
func (s *Shard) HasRows() (found bool, err error) {
	low := []byte{byte(job.KindMeta) + 1}
	err = s.store.Scan(low, []byte{0xff}, func(_, _ []byte) (bool, error) { found = true; return false, nil })
	return found, err
}

// AnyJob returns the id of a job in the store; ok is false if there is none.
func (s *Shard) AnyJob() (id job.ID, ok bool, err error) {
	low, high := job.AppendJobKey(nil, job.KindJob, 0), []byte{byte(job.KindJob) + 1}
	err = s.store.Scan(low, high, func(key, _ []byte) (bool, error) {
		id, ok = job.ID(binary.BigEndian.Uint64(key[1:])), true
		return false, nil
	})
	return id, ok, err
}

// MayReplace makes room for what a swap puts aside, or returns why there is none. The caller asks before the transfer,
// so that a refusal comes before gigabytes were copied. It removes an older set of the kind Behind: there is one at a
// time.
func (s *Shard) MayReplace(wanted Fate) error {
	f, err := s.fateOf(wanted)
	switch {
	case err != nil:
		return err
	case f == Behind:
		return s.dropKept(behindMark)
	case f == Replaced:
		return s.checkReplaced()
	}
	return nil
}

// checkReplaced returns ErrManyReplaced if replacedMost sets are kept already.
func (s *Shard) checkReplaced() error {
	sets, err := keptSets(s.dir, replacedMark)
	if err != nil || len(sets) < replacedMost {
		return err
	}
	return fmt.Errorf("%w: %s has %d sets, the oldest is %s; look at what you still need, remove the rest, such as %s and %s, and start the node again",
		ErrManyReplaced, s.dir, len(sets), sets[0], filepath.Join(s.dir, LogName+replacedMark+sets[0]), filepath.Join(s.dir, StoreName+replacedMark+sets[0]))
}

// dropKept removes the sets that were put aside with a mark.
func (s *Shard) dropKept(mark string) error {
	sets, err := keptSets(s.dir, mark)
	for _, set := range sets {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, LogName+mark+set)), os.RemoveAll(filepath.Join(s.dir, StoreName+mark+set)))
	}
	return err
}

// keptSets returns the times at which logs and stores were put aside with a mark, the oldest first. A set is the log,
// the store or both of one swap. Copies that a crash interrupted do not count.
func keptSets(dir, mark string) (sets []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		part, set, ok := strings.Cut(e.Name(), mark)
		if ok && (part == LogName || part == StoreName) && !strings.HasSuffix(set, tempSuffix) && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	slices.Sort(sets)
	return sets, nil
}

// keptPath returns the path to which a swap moves the old log or store.
func keptPath(dir, part string, s swap) string {
	mark := replacedMark
	if s.fate == Behind {
		mark = behindMark
	}
	return filepath.Join(dir, part+mark+s.when.UTC().Format(keptTime))
}

// keepLog puts the old log aside: it renames it, or copies it if its directory is the root of a file system or a link,
// and so has to stay. A log that is present after the store was moved is the new one. The copy gets its name only when
// it is durable, because an existing name means that the old log is safe.
func (j *join) keepLog() error {
	moved, err := j.moved()
	if err != nil || moved || j.fate == Removed {
		return err
	}
	old, kept := j.path(LogName), keptPath(j.dir, LogName, j.swap)
	info, err := os.Lstat(old)
	if errors.Is(err, fs.ErrNotExist) || err == nil && exists(kept) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() && renameSynced(j.dir, old, kept) == nil {
		return nil
	}
	temp := kept + tempSuffix
	if err := errors.Join(os.RemoveAll(temp), os.CopyFS(temp, os.DirFS(old)), syncTree(temp)); err != nil {
		return err
	}
	return renameSynced(j.dir, temp, kept)
}

// keepStore puts the old store aside. The store's directory is on the file system of dir, as checkSameDisk has
// verified, so a rename suffices.
func (j *join) keepStore() error {
	moved, err := j.moved()
	if err != nil || moved || j.fate == Removed {
		return err
	}
	old, kept := j.path(StoreName), keptPath(j.dir, StoreName, j.swap)
	if exists(kept) || !exists(old) {
		return nil
	}
	return renameSynced(j.dir, old, kept)
}
