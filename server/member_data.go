package server

import (
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
)

// ErrInUse is returned by [Start] for a data directory that another server has open.
var ErrInUse = datadir.ErrInUse

// keepBehind is the number of commits that the log of a node in a cluster keeps although its checkpoint has
// them: if the stream loses some, the leader still has them.
const keepBehind = 10_000

// dirOptions returns the options of the data directory.
func (s *Server) dirOptions() datadir.Options {
	o := &s.opts
	return datadir.Options{Dir: o.Dir, ClusterName: o.ClusterName, Node: o.Node, Witness: o.Witness, DiscardData: o.DiscardData, Logger: o.Logger}
}

// shardOptions returns the options of the log and the store.
func (s *Server) shardOptions() datadir.ShardOptions {
	o := &s.opts
	d := datadir.ShardOptions{SegmentBytes: o.segmentBytes, MarkEvery: o.markEvery, OnFatal: s.fail, Replaying: o.replaying()}
	if o.clustered() {
		d.KeepBehind = keepBehind
	}
	return d
}

// describeData sets the options of the replication that say to which cluster the data belongs.
func (s *Server) describeData(o *replication.Options) (err error) {
	id := s.dir.Identity()
	o.History = ownLog{s.data}
	if id.IsOwn() {
		if o.Own, err = s.data.HasRows(); err != nil {
			return err
		}
		o.Discard = o.Own && s.opts.DiscardData || id.IsDiscarded()
		return nil
	}
	if o.ID, err = replication.ParseClusterID(id.ClusterID); err != nil {
		return err
	}
	o.Discard = s.opts.DiscardData
	if o.Found = id.IsFounder(); o.Found && id.GivesUp != "" {
		o.GiveUp, err = replication.ParseClusterID(id.GivesUp)
	}
	return err
}

// ownLog is the node's log before it has met the cluster.
type ownLog struct{ d *datadir.Shard }

// Last implements replication.History.
func (l ownLog) Last() job.Position { return l.d.Last() }

// Find implements replication.History.
func (l ownLog) Find(lsn uint64) (job.Position, bool) { return l.d.Find(lsn) }

// fateFor returns what happens to the data of this node when it is replaced. Data that the cluster has need not be kept;
// data that it does not have is kept for good. The third case is data of this cluster that is so old that the leader
// cannot compare it: one such set is kept, so that a standby that lags repeatedly does not fill the disk.
func fateFor(old replication.Old) datadir.Fate {
	switch old {
	case replication.OldPart:
		return datadir.Removed
	case replication.OldForeign:
		return datadir.Replaced
	default:
		return datadir.Behind
	}
}

// Known implements replication.Local.
func (m *member) Known() replication.Known { return replication.Known(m.known) }

// Keep implements replication.Local.
func (m *member) Keep(k replication.Known) error {
	return datadir.WriteMembers(m.data.Dir(), m.data.Directory().Identity().ClusterID, datadir.Members(k))
}
