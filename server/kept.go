package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
)

// What a node puts aside when a checkpoint replaces its data. Each name begins with that of the part, such as
// store.replaced-20261122T150405.123Z.
const (
	replacedMark = ".replaced-"
	behindMark   = ".behind-"
	keptTime     = "20060102T150405.000Z"
	// replacedMost is how many times a node puts data aside that the cluster does not have. After that an
	// operator has to remove some.
	replacedMost = 8
)

// ErrManyReplaced ends a node that would have to put data aside once more than replacedMost permits.
var ErrManyReplaced = errors.New("this node has put as much replaced data aside as it may")

// fateOf returns what happens to the data of this node when it is replaced. A store without rows other than the
// engine's own has no value. Data that the cluster has need not be kept; data that it does not have is kept for
// good. The third case is data of this cluster that is so old that the leader cannot compare it: one such set
// is kept, so that a standby that lags repeatedly does not fill the disk.
func (d *data) fateOf(old replication.Old) (fate, error) {
	rows, err := d.hasRows()
	switch {
	case err != nil || !rows || old == replication.OldPart:
		return fateRemoved, err
	case old == replication.OldForeign:
		return fateReplaced, nil
	default:
		return fateBehind, nil
	}
}

// hasRows reports whether the store holds data of callers: jobs, calendars, runs, or unpublished notices.
func (d *data) hasRows() (found bool, err error) {
	low := []byte{byte(job.KindMeta) + 1}
	err = d.store.Scan(low, []byte{0xff}, func(_, _ []byte) (bool, error) { found = true; return false, nil })
	return found, err
}

// mayReplace makes room for what a swap puts aside, or returns why there is none.
func (d *data) mayReplace(old replication.Old) error {
	f, err := d.fateOf(old)
	switch {
	case err != nil:
		return err
	case f == fateBehind:
		return d.dropKept(behindMark)
	case f == fateReplaced:
		return d.checkReplaced()
	}
	return nil
}

// checkReplaced returns ErrManyReplaced if replacedMost sets are kept already.
func (d *data) checkReplaced() error {
	sets, err := keptSets(d.dir, replacedMark)
	if err != nil || len(sets) < replacedMost {
		return err
	}
	return fmt.Errorf("%w: %s has %d sets, the oldest is %s; look at what you still need, remove the rest, such as %s and %s, and start the node again",
		ErrManyReplaced, d.dir, len(sets), sets[0], filepath.Join(d.dir, logName+replacedMark+sets[0]), filepath.Join(d.dir, storeName+replacedMark+sets[0]))
}

// dropKept removes the sets that were put aside with a mark.
func (d *data) dropKept(mark string) error {
	sets, err := keptSets(d.dir, mark)
	for _, set := range sets {
		err = errors.Join(err, os.RemoveAll(filepath.Join(d.dir, logName+mark+set)), os.RemoveAll(filepath.Join(d.dir, storeName+mark+set)))
	}
	return err
}

// keptSets returns the times at which logs and stores were put aside with a mark, the oldest first.
func keptSets(dir, mark string) (sets []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		part, set, ok := strings.Cut(e.Name(), mark)
		if ok && (part == logName || part == storeName) && !strings.HasSuffix(set, tempSuffix) && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	slices.Sort(sets)
	return sets, nil
}

// keptPath returns the path to which a swap moves the old log or store.
func keptPath(dir, part string, s swap) string {
	mark := replacedMark
	if s.fate == fateBehind {
		mark = behindMark
	}
	return filepath.Join(dir, part+mark+s.when.UTC().Format(keptTime))
}

// keepLog puts the old log aside: it renames it, or copies it if its directory is the root of a file system or
// a link, and so has to stay. A log that is present after the store was moved is the new one.
func (j *join) keepLog() error {
	moved, err := j.moved()
	if err != nil || moved || j.fate == fateRemoved {
		return err
	}
	old, kept := j.path(logName), keptPath(j.dir, logName, j.swap)
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

// keepStore puts the old store aside.
func (j *join) keepStore() error {
	moved, err := j.moved()
	if err != nil || moved || j.fate == fateRemoved {
		return err
	}
	old, kept := j.path(storeName), keptPath(j.dir, storeName, j.swap)
	if exists(kept) || !exists(old) {
		return nil
	}
	return renameSynced(j.dir, old, kept)
}

func renameSynced(dir, from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncPath(dir)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
