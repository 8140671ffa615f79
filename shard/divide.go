package shard

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/replication"
)

// Divide returns how many shards the cluster has of which the shard of these options will be a member: the first of its
// process. It founds a cluster of several shards, if the options of replication want that and there is none; see
// [replication.Divide]. Only Data, Cluster and Logger of the options count.
//
// It tries until JetStream can do what is needed, and returns an error if only a change of the options, the data or the
// streams can help. ctx bounds it.
func Divide(ctx context.Context, opts Options) (shards int, err error) {
	s := New(opts)
	o, err := s.replicationOptions()
	if err != nil {
		return 0, err
	}
	if o.Begins, err = s.begins(o.Found); err != nil {
		return 0, err
	}
	if all := s.data.Directory().Shards(); datadir.CheckDivided(all) == nil {
		o.OwnShards = len(all)
	}
	err = s.retry(ctx, func() (err error) {
		shards, err = replication.Divide(ctx, o)
		return err
	})
	if err == nil && shards > 1 && o.Found && len(o.Begins) == 0 {
		err = fmt.Errorf("%w: it is to found a cluster, which has one shard, and the cluster %q has %d; use another prefix, or join that one with an empty directory",
			replication.ErrOwnData, o.Cluster, shards)
	}
	return shards, err
}

// CheckOwn returns an error if the data of the shard belongs to no cluster and is not part of the log of the cluster; see
// [replication.CheckOwn]. It tries as Divide does.
func CheckOwn(ctx context.Context, opts Options) error {
	s := New(opts)
	o, err := s.replicationOptions()
	if err != nil || !o.Own || o.Discard {
		return err
	}
	return s.retry(ctx, func() error { return replication.CheckOwn(ctx, o) })
}

// begins returns the LSN of the data of each shard of a founder whose data is divided into several; nil for any other node.
func (s *Shard) begins(founds bool) (lsns []uint64, err error) {
	shards := s.data.Directory().Shards()
	if !founds || len(shards) < 2 {
		return nil, nil
	}
	if err := datadir.CheckDivided(shards); err != nil {
		return nil, err
	}
	lsns = append(lsns, s.data.Last().LSN)
	for _, n := range shards[1:] {
		at, err := s.data.Directory().PositionOf(n)
		if err != nil {
			return nil, err
		}
		lsns = append(lsns, at.LSN)
	}
	return lsns, nil
}
