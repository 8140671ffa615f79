package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/shard"
)

// member is one shard of the process, with what belongs to it alone. A node alone, and one of a cluster with one shard, has
// the shard 0 only.
type member struct {
	number    uint32
	data      *datadir.Shard
	backups   *backups            // nil until the connection for them is there
	shard     *shard.Shard        // nil until the step that opens it
	announcer *dispatch.Announcer // nil until the shard is open

	keptCalendars atomic.Int64 // copies of calendars that shard 0 does not have, and to which jobs refer
}

// first returns the member with the shard 0, which each process has; nil in a witness. Its data says which node this is, and
// its node finds or founds the cluster before the others.
func (s *Server) first() *member { return s.memberOf(0) }

// members returns the members of this process, in the order of their numbers. The caller must not change the list.
func (s *Server) members() []*member { return s.table.list().all }

// memberOf returns the member of a shard; nil if this process has none.
func (s *Server) memberOf(shard uint32) *member { return s.table.list().of[shard] }

// divided reports whether the cluster has several shards.
func (s *Server) divided() bool { return s.shards > 1 }

// atOnce calls f for members at the same time, and waits for all. With the first error the context of the others ends, and
// that error is returned.
func (s *Server) atOnce(ctx context.Context, members []*member, f func(context.Context, *member) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var all sync.WaitGroup
	failed := make(chan error, len(members))
	for _, m := range members {
		all.Go(func() {
			if err := f(ctx, m); err != nil {
				failed <- s.inShard(m.number, err)
				end()
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed // nil if none has failed
}

// each calls f for all members at the same time, and returns their errors.
func (s *Server) each(f func(*member) error) []error {
	members := s.members()
	errs := make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() {
			if err := f(m); err != nil {
				errs[i] = s.inShard(m.number, err)
			}
		})
	}
	all.Wait()
	return errs
}

// inShard returns an error with the shard in which it happened, if there are several.
func (s *Server) inShard(shard uint32, err error) error {
	if err == nil || !s.divided() {
		return err
	}
	return fmt.Errorf("shard %d: %w", shard, err)
}

// loggerOf returns the logger of a member: its lines have the shard, if there are several.
func (s *Server) loggerOf(m *member) *slog.Logger {
	if !s.divided() {
		return s.opts.Logger
	}
	return s.opts.Logger.With(slog.Uint64(job.LogShard, uint64(m.number)))
}

// status returns the status of the process: that of its shard, or the sum of several.
func (s *Server) status() scheduler.Status {
	members := s.members()
	all := make([]scheduler.Status, 0, len(members))
	for _, m := range members {
		all = append(all, m.shard.Status())
	}
	return scheduler.Sum(all)
}

// leads returns the numbers of the shards that this process leads.
func (s *Server) leads() (shards []uint32) {
	for _, m := range s.members() {
		if m.shard.Status().Role == replication.RoleLeader {
			shards = append(shards, m.number)
		}
	}
	return shards
}

// running returns the members, once they are there, for goroutines that run before that.
func (s *Server) running() []*member {
	if s.serving.Load() {
		return s.members()
	}
	return nil
}

// tenantsWithJobs returns the tenants that f selects and that have jobs in a shard, in the order of their names and at most
// so many.
func (s *Server) tenantsWithJobs(most int, f func(tenant string) bool) (names []string) {
	for _, m := range s.running() {
		names = append(names, m.shard.TenantsWithJobs(most, f)...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), most)]
}
