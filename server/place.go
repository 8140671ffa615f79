package server

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
)

// Of several shards a process has a copy of the first one, and of those that the cluster has placed on it. Which these are
// changes while it runs: it opens what it is given, and drops what other nodes hold.

const (
	// placeAgain is the time between two looks at what the process is to hold, if nothing was heard meanwhile.
	placeAgain = time.Second
	// claimAgain is the time between two attempts to learn it at the start.
	claimAgain = 500 * time.Millisecond
	// dropTimeMax bounds the end of a shard that goes.
	dropTimeMax = 10 * time.Second
)

// copies returns how many copies of a shard this node wants.
func (o *Options) copies() int {
	if o.Copies == 0 {
		return replication.CopiesDefault
	}
	return o.Copies
}

// claimShards learns which shards this process is to hold besides the first one, whose member is open, and opens the data of
// those. It tries until NATS answers.
func (s *Server) claimShards(ctx context.Context) error {
	if !s.divided() {
		return nil
	}
	wanted, err := s.cluster.Replication.Host.Claim(ctx, s.dir.Shards())
	for ; err != nil; wanted, err = s.cluster.Replication.Host.Claim(ctx, s.dir.Shards()) {
		s.opts.Logger.Info("waiting for NATS to say which shards this node holds", slog.Any("error", err))
		select {
		case <-ctx.Done():
			return err
		case <-time.After(claimAgain):
		}
	}
	var opened []*member
	for _, n := range wanted {
		if s.memberOf(n) == nil {
			opened = append(opened, &member{number: n})
		}
	}
	if err := s.atOnce(ctx, opened, s.openDataOf); err != nil {
		return err
	}
	for _, m := range opened {
		s.equip(m)
		s.table.add(m)
	}
	return nil
}

// keepPlaces opens and drops shards as they are placed, until closePlaces is called.
func (s *Server) keepPlaces(context.Context) error {
	if !s.divided() {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopPlaces = stop
	s.placing.Go(func() {
		again := time.NewTicker(placeAgain)
		defer again.Stop()
		s.sweep()
		for ctx.Err() == nil {
			s.place(ctx)
			select {
			case <-ctx.Done():
			case <-again.C:
			case <-s.cluster.Replication.Host.Placed():
			}
		}
	})
	return nil
}

// closePlaces ends keepPlaces: from then on the members stay those that they are.
func (s *Server) closePlaces() {
	if s.stopPlaces != nil {
		s.stopPlaces()
		s.placing.Wait()
	}
}

// place opens what is to be here and is not, and drops what other nodes hold.
func (s *Server) place(ctx context.Context) {
	host := s.cluster.Replication.Host
	wanted := make(map[uint32]bool)
	for _, n := range host.Wanted() {
		wanted[n] = true
		if s.memberOf(n) == nil {
			s.take(ctx, &member{number: n})
		}
	}
	for _, m := range s.members() {
		if !wanted[m.number] && host.MayDrop(m.number) {
			s.drop(m)
		}
	}
}

// sweep removes what is left of shards whose end was interrupted, and puts aside what else lies at the places of shards that
// are not to be here.
func (s *Server) sweep() {
	left, err := s.dir.Leftovers()
	if err != nil {
		s.opts.Logger.Error("the data directory cannot be searched for shards that other nodes hold", slog.Any("error", err))
	}
	for _, n := range left {
		if s.memberOf(n) == nil {
			s.clear(n)
		}
	}
}

// take opens a shard that was placed here, and lets it run. What fails is tried again.
func (s *Server) take(ctx context.Context, m *member) {
	log := s.loggerOf(m)
	err := s.openDataOf(ctx, m)
	if err == nil {
		s.equip(m)
		err = m.shard.Open(ctx)
	}
	if err != nil {
		if ctx.Err() == nil {
			log.Error("a shard that is to be on this node cannot be opened; trying again", slog.Any("error", err))
		}
		s.end(context.WithoutCancel(ctx), m)
		return
	}
	s.table.add(m)
	s.placing.Go(func() {
		role, err := m.shard.Start(ctx)
		if err == nil {
			log.Info("this node has a copy of the shard", slog.String("role", role))
		} else if ctx.Err() == nil && s.memberOf(m.number) == m {
			s.fail(s.inShard(m.number, fmt.Errorf("a shard that was placed here: %w", err)))
		}
	})
}

// drop ends a shard that other nodes hold, and removes its data.
func (s *Server) drop(m *member) {
	ctx, cancel := context.WithTimeout(context.Background(), dropTimeMax)
	defer cancel()
	s.table.remove(m)
	s.end(ctx, m)
	s.logDrop(m.number, s.dir.Drop(m.number))
}

// end closes a member that is not in the table, with its data.
func (s *Server) end(ctx context.Context, m *member) {
	for _, err := range []error{m.close(ctx), m.closeData()} {
		if err != nil {
			s.loggerOf(m).Warn("a shard was not closed as it should be", slog.Any("error", err))
		}
	}
}

// clear makes the place of a shard free that is not to be here.
func (s *Server) clear(shard uint32) {
	aside, err := s.dir.Clear(shard)
	if err != nil || aside == "" {
		s.logDrop(shard, err)
		return
	}
	s.opts.Logger.Warn("data of a shard that this node is not to hold, and did not give up itself, is put aside; remove it when it is not needed any more",
		slog.Uint64(job.LogShard, uint64(shard)), slog.String("aside", aside))
}

func (s *Server) logDrop(shard uint32, err error) {
	log := s.opts.Logger.With(slog.Uint64(job.LogShard, uint64(shard)))
	if err != nil {
		log.Error("the data of a shard that other nodes hold was not removed; the next start tries again", slog.Any("error", err))
		return
	}
	log.Info("other nodes hold the shard; its data here is removed")
}
