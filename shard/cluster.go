package shard

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/wal"
)

// openMember finds the cluster or founds it, and begins to follow.
func (s *Shard) openMember(ctx context.Context) error {
	o, err := s.replicationOptions()
	if err != nil {
		return err
	}
	if s.node, err = s.findCluster(ctx, o); err != nil {
		return err
	}
	if err := s.data.Directory().MeetCluster(s.opts.Number, s.node.ID().String(), s.node.Discards()); err != nil {
		return err
	}
	if c := s.opts.Cluster; c.OnFound != nil {
		if err := c.OnFound(ctx); err != nil {
			return err
		}
	}
	id := s.data.Directory().Identity().ClusterID
	if err := s.openAnnouncer(ctx, id); err != nil {
		return err
	}
	known, err := datadir.ReadMembers(s.data.Dir(), id)
	if err != nil {
		return err
	}
	s.member = &member{Shard: s, known: known}
	s.node.Attach(s.member)
	if c := s.opts.Cluster; c.OnJoin != nil {
		c.OnJoin(ctx, s.node)
	}
	return s.member.begin()
}

// replicationOptions returns the options of the node, with what the data says about the cluster to which it belongs.
func (s *Shard) replicationOptions() (o replication.Options, err error) {
	o = s.opts.Cluster.Replication
	o.Shard, o.Next, o.Boot, o.History, o.Load = s.opts.Number, wal.Next, bootClock, ownLog{s.data}, s.load
	o.Audit = s.recordOperation
	id := s.data.Directory().Identity()
	if id.IsOwn() {
		if o.Own, err = s.data.HasRows(); err != nil {
			return o, err
		}
		o.Discard = o.Own && o.Discard || id.IsDiscarded()
		return o, nil
	}
	if o.ID, err = replication.ParseClusterID(id.ClusterID); err != nil {
		return o, err
	}
	if o.Found = id.IsFounder(); o.Found && id.GivesUp != "" {
		o.GiveUp, err = replication.ParseClusterID(id.GivesUp)
	}
	o.GiveUpLoses, o.DividedFrom = id.Loses, job.Position{LSN: id.DividedLSN, Epoch: id.DividedEpoch}
	return o, err
}

// load returns how many jobs the shard has, and how many of its runs fire on time a second; 0 before it is open.
func (s *Shard) load() (jobs int, usual float64) {
	if e := s.engine.Load(); e != nil {
		return e.JobCount(), e.UsualRate()
	}
	return 0, 0
}

// findCluster tries until JetStream can do what is needed.
func (s *Shard) findCluster(ctx context.Context, opts replication.Options) (node *replication.Node, err error) {
	err = s.retry(ctx, func() (err error) {
		node, err = replication.NewNode(ctx, opts)
		return err
	})
	return node, err
}

// How a start tries to find the cluster.
const (
	findAgain    = 500 * time.Millisecond // between two attempts
	findSayEvery = 10 * time.Second       // how often the log says why it does not find it
)

// retry calls try until it succeeds or its error is final: a stream with three replicas cannot be made before three servers
// are up.
func (s *Shard) retry(ctx context.Context, try func() error) error {
	var said time.Time
	for {
		err := try()
		if err == nil || replication.IsFinal(err) {
			return err
		}
		if time.Since(said) > findSayEvery {
			said = time.Now()
			s.opts.Logger.Info("waiting for the cluster", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(findAgain):
		}
	}
}

// startMember runs the node in the background, and returns when it leads, or follows without a gap.
func (s *Shard) startMember(ctx context.Context) (role string, err error) {
	ready := make(chan string, 1)
	s.run(func(ctx context.Context) error {
		return s.node.Run(ctx, func(role string) { ready <- role })
	})
	select {
	case role = <-ready:
		return role, nil
	case <-s.done:
		if s.failure != nil {
			return "", s.failure
		}
		return "", errors.New("the node has ended")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// closeMember hands over if the node leads, and ends it.
func (s *Shard) closeMember(ctx context.Context) {
	if s.stop != nil {
		s.node.Resign()
		select {
		case <-s.done:
		case <-ctx.Done():
		}
		s.stop()
		<-s.done
	}
	if s.member != nil {
		s.member.end()
	}
}
