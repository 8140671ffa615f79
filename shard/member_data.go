package shard

import (
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
)

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
