package server

import (
	"golang.org/x/sys/unix"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/metrics"
)

// The metrics of the parts of a server other than its engine, which each part is asked for here.

// shardMetrics returns what each shard has of its own.
func (s *Server) shardMetrics() (all []metrics.Shard) {
	for _, m := range s.members() {
		all = append(all, metrics.Shard{Number: m.number, Engine: m.shard, Storage: m.storage, Cluster: s.aboutShard(m)})
	}
	return all
}

// storage describes the log and the store of a shard; nil while it has none, because it is receiving others.
func (m *member) storage() (found *metrics.Storage) {
	m.shard.WithData(func(d *datadir.Shard) { found = storageOf(d) })
	return found
}

func storageOf(d *datadir.Shard) *metrics.Storage {
	if d.Log() == nil || d.Store() == nil {
		return nil
	}
	log, store, checkpoints := d.Log().Metrics(), d.Store().Metrics(), d.Checkpoints().Stats()
	f := &metrics.Storage{
		Syncs: log.Syncs, Appends: log.Appends, Segments: log.Segments, LogBytes: log.Bytes,
		Checkpoints: checkpoints.Took, CheckpointBytes: checkpoints.WrittenBytes,
		CheckpointFailures: checkpoints.Failures, CheckpointAt: checkpoints.LastSuccess,
		Store: metrics.Store{
			Bytes: store.DiskBytes, MemTableBytes: store.MemTableBytes,
			CacheBytes: store.CacheBytes, CacheHits: store.CacheHits, CacheMisses: store.CacheMisses,
			L0Sublevels: store.L0Sublevels, CompactionDebtBytes: store.CompactionDebt,
			Flushes: store.Flushes, Compactions: store.Compactions, FlushedBytes: store.FlushedBytes, CompactedBytes: store.CompactedBytes,
			Stalls: store.Stalls, StallTime: store.StallTime,
		},
	}
	f.FreeBytes, f.SizeBytes = space(d.Dir())
	return f
}

// space returns the bytes that are free for an unprivileged process in the file system of a directory, and its
// size; zeros if they are unknown.
func space(dir string) (free, size uint64) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0
	}
	return uint64(st.Bavail) * uint64(st.Bsize), uint64(st.Blocks) * uint64(st.Bsize)
}

// deliveries returns the counters of the senders. A server has no handlers.
func (s *Server) deliveries() *metrics.Deliveries {
	st := s.dispatcher.Stats()
	d := &metrics.Deliveries{Connected: st.NATS.Connected, TenantConnections: st.NATS.Tenants, Reconnects: st.NATS.Reconnects, Denied: st.NATS.Denied, Duplicates: st.NATS.Duplicates}
	for _, m := range s.members() {
		if m.announcer != nil {
			d.EventDuplicates += m.announcer.Duplicates()
		}
	}
	if s.tracer != nil {
		d.SpansLost = s.tracer.Lost()
	}
	for kind := job.TargetNATS; kind < job.TargetHandler; kind++ {
		k := metrics.DeliveryKind{
			Kind: kind.String(), Ended: make(map[string]uint64, dispatch.Endings), Took: st.Took[kind], Queued: st.ByKind[kind].Queued,
		}
		for how := range dispatch.Endings {
			k.Ended[how.String()] = st.ByKind[kind].Ended[how]
		}
		d.Kinds = append(d.Kinds, k)
	}
	return d
}

// aboutNATS returns the function that describes the NATS server in this process; nil if there is none.
func (s *Server) aboutNATS() func() metrics.EmbeddedNATS {
	if _, ok := s.bus.Embedded(); !ok {
		return nil
	}
	return func() metrics.EmbeddedNATS {
		now, _ := s.bus.Embedded()
		return metrics.EmbeddedNATS{Clients: now.Clients, Routes: now.Routes, IsCurrent: now.IsCurrent, IsLeader: now.IsLeader}
	}
}
