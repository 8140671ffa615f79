package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// droppedName is the file that marks the data of a shard which the node gives up, because other nodes hold the shard. It is
	// there before the first file goes, and goes last. Without it, data of a shard that PARTS does not have came from
	// elsewhere, and may be the only copy of jobs.
	droppedName = "DROPPED"
	droppedText = "other nodes hold this shard; its data here is being removed\n"
)

// dropped returns the names in a shard's directory that go when other nodes hold the shard. What was put aside for the operator
// stays: no other node has it.
func dropped() (names []string) {
	for _, e := range shardEntries {
		if e.name != droppedName { // it goes last
			names = append(names, e.name)
		}
	}
	return names
}

// Drop removes the data of a shard that is not open, because other nodes of the cluster hold it. The mark comes first, and then
// PARTS: from then on the shard counts as one that the directory has never had. After a crash [Directory.Clear] or
// [Directory.OpenShard] goes on. What was put aside for the operator stays.
func (d *Directory) Drop(shard uint32) error {
	dir := ShardDir(d.dir, shard)
	if exists(dir) {
		if err := errors.Join(writeSynced(filepath.Join(dir, droppedName), droppedText), syncPath(dir)); err != nil {
			return fmt.Errorf("mark the data of shard %d, which other nodes hold: %w", shard, err)
		}
	}
	if err := d.forgetShard(shard); err != nil {
		return err
	}
	return d.removeDropped(shard)
}

// removeDropped removes the data of a shard that PARTS does not have and that is marked, and then the mark. It may be called
// again after a crash.
func (d *Directory) removeDropped(shard uint32) error {
	dir := ShardDir(d.dir, shard)
	if !exists(dir) {
		return nil
	}
	for _, name := range dropped() {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove the data of shard %d, which other nodes hold: %w", shard, err)
		}
	}
	err := syncPath(dir)
	if err == nil {
		err = os.Remove(filepath.Join(dir, droppedName))
	}
	if err != nil {
		return fmt.Errorf("remove the mark of shard %d, which other nodes hold: %w", shard, err)
	}
	_ = os.Remove(dir) // it is not empty if something was put aside
	return syncPath(filepath.Dir(dir))
}

// finishDrop completes a Drop that was interrupted. If PARTS still has the shard, nothing was removed, and the shard stays.
func (d *Directory) finishDrop(shard uint32) error {
	dir := ShardDir(d.dir, shard)
	if !exists(filepath.Join(dir, droppedName)) {
		return nil
	}
	if !d.hasPart(shard) {
		return d.removeDropped(shard)
	}
	return errors.Join(os.Remove(filepath.Join(dir, droppedName)), syncPath(dir))
}

func (d *Directory) hasPart(shard uint32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.parts.has(shard)
}

// forgetShard removes a shard from PARTS.
func (d *Directory) forgetShard(shard uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.settled, shard)
	if !d.parts.has(shard) {
		return nil
	}
	return d.writeParts(d.parts.without(shard))
}

// Leftovers returns the shards of which the directory has a log or a store, and which PARTS does not have: a Drop, or a first
// start, was interrupted, or the shard's directory was put there by hand.
func (d *Directory) Leftovers() (shards []uint32, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leftoversLocked()
}

func (d *Directory) leftoversLocked() (shards []uint32, err error) {
	entries, err := os.ReadDir(filepath.Join(d.dir, ShardsName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		n, ok := shardOfName(e.Name())
		if ok && !d.parts.has(n) && slices.ContainsFunc([]string{LogName, StoreName, droppedName}, func(name string) bool { return exists(filepath.Join(ShardDir(d.dir, n), name)) }) {
			shards = append(shards, n)
		}
	}
	slices.Sort(shards)
	return shards, err
}

// Clear makes the place of a shard free of which [Directory.Leftovers] has found data and which is not to be here. Data that the
// node itself has given up is removed. Any other is put aside, as a directory beside the shard's, whose path it returns;
// [ErrManyReplaced] if there are as many as may be. It may be called again after a crash.
func (d *Directory) Clear(shard uint32) (aside string, err error) {
	dir := ShardDir(d.dir, shard)
	if exists(filepath.Join(dir, droppedName)) {
		return "", d.removeDropped(shard)
	}
	sets, err := filepath.Glob(dir + replacedMark + "*")
	if err != nil {
		return "", err
	}
	if len(sets) >= replacedMost {
		return "", fmt.Errorf("%w: beside %s there are %d copies; look at what you still need, and remove the rest, such as %s", ErrManyReplaced, dir, len(sets), slices.MinFunc(sets, strings.Compare))
	}
	aside = dir + replacedMark + time.Now().UTC().Format(keptTime)
	if err := renameSynced(filepath.Dir(dir), dir, aside); err != nil {
		return "", fmt.Errorf("put the data of shard %d aside: %w", shard, err)
	}
	return aside, nil
}
