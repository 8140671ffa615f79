package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// dropped are the names in a shard's directory that go when other nodes hold the shard. What was put aside for the operator
// stays: no other node has it.
var dropped = []string{LogName, StoreName, MembersName, JoiningName, DaybookName, incomingName, outgoingName}

// Drop removes the data of a shard that is not open, because other nodes of the cluster hold it. PARTS comes first: from then on
// the shard counts as one that the directory has never had, and a crash leaves what [Directory.Leftovers] finds. What was put
// aside for the operator stays.
func (d *Directory) Drop(shard uint32) error {
	if err := d.forgetShard(shard); err != nil {
		return err
	}
	dir := ShardDir(d.dir, shard)
	for _, name := range dropped {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove the data of shard %d, which other nodes hold: %w", shard, err)
		}
	}
	_ = os.Remove(dir) // it is not empty if something was put aside
	return syncPath(filepath.Dir(dir))
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
// start, was interrupted.
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
		if ok && !d.parts.has(n) && slices.ContainsFunc([]string{LogName, StoreName}, func(name string) bool { return exists(filepath.Join(ShardDir(d.dir, n), name)) }) {
			shards = append(shards, n)
		}
	}
	slices.Sort(shards)
	return shards, err
}
