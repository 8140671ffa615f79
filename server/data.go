package server

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/daybook"
)

// ErrInUse is returned by [Start] for a data directory that another server has open.
var ErrInUse = datadir.ErrInUse

// keepBehind is the number of commits that the log of a node in a cluster keeps although its checkpoint has
// them: if the stream loses some, the leader still has them.
const keepBehind = 10_000

// openData opens the data directory, of which a witness has only the lock and the name, and the log and the store of
// the first shard. The directory says which node this is. The shards of a cluster are not known yet.
func (s *Server) openData(context.Context) (err error) {
	if s.opts.Witness {
		if s.dir, err = datadir.OpenWitness(s.dirOptions()); err == nil {
			s.opts.Node = s.dir.Identity().Node
		}
		return err
	}
	if s.dir, err = datadir.OpenDirectory(s.dirOptions()); err != nil {
		return err
	}
	shards := 1
	if s.opts.clustered() {
		shards = max(s.opts.Shards, len(s.dir.Shards()))
	} else if err = s.dir.CheckShards(0); err != nil {
		return err
	}
	first := &member{}
	if first.data, err = s.dir.OpenShard(0, s.shardOptions(shards)); err == nil {
		id := s.dir.Identity()
		s.opts.Node, s.opts.founding = id.Node, id.IsFounder()
		if has := len(s.dir.Shards()); s.opts.founding && s.opts.Shards == 0 && has > 1 {
			s.opts.Shards = has // as the data is divided
		}
		s.table.add(first)
	}
	return err
}

// openDaybook opens the file with how late the launches of all shards were. It never fails: nothing depends on the file, so a server whose
// file cannot be used runs without it.
func (s *Server) openDaybook(context.Context) error {
	book, err := daybook.Open(filepath.Join(s.first().data.Dir(), datadir.DaybookName))
	if err != nil {
		s.opts.Logger.Warn("the lateness of the last 24 hours is not kept", slog.Any("error", err))
		return nil
	}
	s.daybook = book
	return nil
}

// closeDaybook closes the file, once the dashboard has written what it still had.
func (s *Server) closeDaybook() (err error) {
	if s.dashboard != nil {
		err = s.dashboard.Close()
	}
	if s.daybook != nil {
		err = errors.Join(err, s.daybook.Close())
	}
	return err
}

// dirOptions returns the options of the data directory.
func (s *Server) dirOptions() datadir.Options {
	o := &s.opts
	return datadir.Options{Dir: o.Dir, ClusterName: o.ClusterName, Node: o.Node, Witness: o.Witness, DiscardData: o.DiscardData, TablesMax: openTables(filesMax()), Logger: o.Logger}
}

// shardOptions returns the options of the log and the store of a shard, of so many.
func (s *Server) shardOptions(shards int) datadir.ShardOptions {
	o := &s.opts
	d := datadir.ShardOptions{SegmentBytes: o.segmentBytes, MarkEvery: o.markEvery, OnFatal: s.fail, Replaying: o.replaying(), Shards: shards}
	if o.clustered() {
		d.KeepBehind = keepBehind
	}
	return d
}
