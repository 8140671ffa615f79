package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/shard"
)

// divide learns from NATS how many shards the cluster has, or founds one with as many as the options want, and opens the data
// of those that are not open yet. A directory with other shards is refused, and keeps what it has.
func (s *Server) divide(ctx context.Context) error {
	var err error
	if s.cluster, err = s.clusterOptions(ctx); err != nil {
		return err
	}
	shards, err := shard.Divide(ctx, shard.Options{Data: s.first().data, Cluster: s.cluster, Logger: s.opts.Logger})
	if err != nil {
		return err
	}
	r := &s.cluster.Replication
	r.Shards, r.StreamBytesMax = shards, streamBytes(s.opts.StreamBytesMax, shards)
	s.shards = shards
	if err := s.checkShards(); err != nil {
		return err
	}
	if err := s.settleNumber(s.first()); err != nil {
		return err
	}
	if err := s.openKept(ctx); err != nil || shards == 1 {
		return err
	}
	if s.isRestored() {
		return s.atOnce(ctx, s.members(), func(ctx context.Context, m *member) error {
			return shard.CheckOwn(ctx, shard.Options{Number: m.number, Data: m.data, Cluster: s.clusterOf(m), Logger: s.loggerOf(m)})
		})
	}
	return nil
}

// isRestored reports whether the directory belongs to no cluster and has all shards of the one that NATS has, as after a restore
// of a backup. It may join if the logs of all go on behind its data.
func (s *Server) isRestored() bool {
	return s.dir.Identity().ClusterID == "" && len(s.dir.Shards()) == s.shards
}

// shardOfJobs returns the shard to which the jobs of a member belong by their ids; that of the member if it has none.
func (s *Server) shardOfJobs(m *member) (uint32, error) {
	id, there, err := m.data.AnyJob()
	if err != nil || !there {
		return m.number, err
	}
	return job.ShardOf(id.Slot(), s.shards), nil
}

// settleNumber refuses the data of another shard, and otherwise keeps in its directory which shard it is. Data of no cluster,
// which may be divided in another way, is judged elsewhere.
func (s *Server) settleNumber(m *member) error {
	if s.dir.Identity().IsOwn() {
		return nil
	}
	of, err := s.shardOfJobs(m)
	switch {
	case err != nil:
		return err
	case of == m.number:
		return m.data.NoteNumber()
	case s.opts.RecreateStream: // the number of shards is the operator's: no stream confirms it
		return fmt.Errorf("%w: shard %d of this data directory has a job that belongs to shard %d of %d; the cluster had another number of shards (--shards), or the directories of its shards were moved",
			replication.ErrOtherShards, m.number, of, s.shards)
	}
	return fmt.Errorf("%s has jobs of shard %d, and lies at the place of shard %d; move the directories of the shards back to their places", m.data.Dir(), of, m.number)
}

// openKept opens the data of the shards that the directory has besides the first one, whether they are to stay here or not:
// another node may not have all of it yet. In a directory of no cluster, what is left of other shards is opened too, so that
// rows there are refused.
func (s *Server) openKept(ctx context.Context) error {
	kept := s.dir.Shards()
	if s.dir.Identity().ClusterID == "" {
		left, err := s.dir.Leftovers()
		if err != nil {
			return err
		}
		kept = append(kept, left...)
	}
	var members []*member
	for _, n := range kept {
		if n != 0 && int(n) < s.shards {
			m := &member{number: n}
			members = append(members, m)
			s.table.add(m)
		}
	}
	return s.atOnce(ctx, members, s.openDataOf)
}

// checkShards refuses a directory that has a shard which the cluster does not have.
func (s *Server) checkShards() error {
	var served []uint32
	for n := range uint32(s.shards) {
		served = append(served, n)
	}
	if err := s.dir.CheckShards(served...); err != nil {
		return fmt.Errorf("the cluster %q in NATS has %s, or NATS has lost its logs: %w; use the NATS servers of the cluster of this directory, or choose an empty one with --data; if the logs are lost, add --recreate-stream and the number of shards, --shards, see the runbook", s.opts.ClusterName, shardsText(len(served)), err)
	}
	return nil
}

// shardsText returns a number of shards in words.
func shardsText(n int) string {
	if n == 1 {
		return "one shard"
	}
	return fmt.Sprintf("%d shards", n)
}

// openDataOf opens the data of a further shard. Rows of a directory that belongs to no cluster were left by another one: with
// them the shard would be one that only this node has.
func (s *Server) openDataOf(_ context.Context, m *member) (err error) {
	if m.data, err = s.dir.OpenShard(m.number, s.shardOptions(s.shards)); err != nil {
		return err
	}
	if s.dir.Identity().ClusterID != "" || s.isRestored() {
		return s.settleNumber(m)
	}
	has, err := m.data.HasRows()
	if has {
		err = fmt.Errorf("%w, in %s, and no file %s that says of which cluster; start with an empty directory", replication.ErrOwnData, m.data.Dir(), datadir.NodeName)
	}
	return err
}

// clusterOptions returns what each shard of the cluster needs besides.
func (s *Server) clusterOptions(ctx context.Context) (*shard.Cluster, error) {
	o := &s.opts
	facts, err := s.around.Facts(ctx)
	if err != nil {
		return nil, err
	}
	replicas := facts.Replicas(o.Replicas)
	if err := facts.Validate(); err != nil {
		return nil, err
	}
	conn, err := s.bus.Connect("carillon log")
	if err != nil {
		return nil, err
	}
	r := replication.Options{
		Conn: conn, Prefix: o.Prefix, Cluster: o.ClusterName, Node: o.Node, Process: s.process,
		Local: o.Durability == DurabilityLocal, Replicas: replicas, Shards: o.Shards, StreamBytesMax: streamBytes(o.StreamBytesMax, o.Shards),
		Recreate: o.RecreateStream, LeadAlone: o.LeadAlone, Await: o.awaitMembers, Lease: o.lease, Discard: o.DiscardData,
		Synced: s.around.Synced, ReplicasWanted: func() int { return max(replicas, s.around.Replicas()) }, Release: o.Version, Inboxes: s.inboxes, Logger: o.Logger, Host: replication.NewHost(o.Logger), SpreadEvery: o.SpreadEvery,
		IsMember: s.isLeftInNATS, Forget: s.forgetInNATS,
		Copies: o.Copies, Weight: o.Weight, Zone: o.Zone, PlaceEvery: o.placeEvery,
	}
	r.Server, r.Leaders = s.bus.Seats()
	return &shard.Cluster{Replication: r}, nil
}

// streamBytes returns the largest size of the log of each of so many shards, which together have all bytes, in the stream of
// each at least streamBytesMaxMin.
func streamBytes(all int64, shards int) int64 {
	return max(all/int64(max(1, shards)), streamBytesMaxMin)
}

// clusterOf returns what a shard needs of the cluster; nil for a node alone. The first shard finds or founds the cluster for
// the process, and speaks for it.
func (s *Server) clusterOf(m *member) *shard.Cluster {
	if s.cluster == nil {
		return nil
	}
	c := *s.cluster
	r := &c.Replication
	r.Logger = s.loggerOf(m)
	if some := s.opts.RecreateShards; r.Recreate && len(some) > 0 && !slices.Contains(some, m.number) {
		r.Recreate, r.RecreatedElsewhere = false, true
	}
	if m == s.first() {
		c.OnFound, c.OnJoin = s.onFound, s.onJoin
	}
	return &c
}

// onFound keeps what NATS had put aside, and ends the answers to empty nodes: the cluster is there.
func (s *Server) onFound(context.Context) error {
	if err := datadir.KeepNATSAside(s.opts.Dir, s.opts.Logger); err != nil {
		return err
	}
	s.bus.Founded()
	return nil
}

// onJoin checks NATS now that the log exists, and lets other servers learn which node this is.
func (s *Server) onJoin(ctx context.Context, node *replication.Node) {
	s.around.CheckNATS(ctx)
	s.around.Joined(node)
}
