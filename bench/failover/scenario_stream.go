package main

import (
	"context"
	"slices"
	"time"
)

// The scenarios that take the leader of a stream away, or break a stream.

// electionTime is how long a server stays away whose office another has to take: 200 ticks of the jobs that
// stand for the overlap policies.
const electionTime = 20 * time.Second

// killServer kills the NATS server that leads the streams. With NATS embedded it is the witness, or the last of three nodes
// that can lead, which leads no shard then; the bucket stays where the product has put it.
func killServer(ctx context.Context, r *rig, _ *node) (blow, error) {
	if r.opts.topology == embedded {
		last := r.cluster.nodes[members-1]
		b := killing(last)
		b.victim, b.lasts = nil, electionTime
		return b, r.burden(ctx, last)
	}
	s := r.cluster.servers[members-1]
	if r.net.lan != nil { // that no node uses, so that nothing but the streams is lost
		used := r.cluster.servers[:members-1]
		if _, _, err := r.place(ctx, slices.Concat(used, used)[:r.opts.nodes]...); err != nil {
			return blow{}, err
		}
	}
	return blow{
		land: func() error { s.proc.Kill(); return nil }, heal: s.restart, lasts: electionTime,
	}, r.streams.lead(ctx, s.name)
}

// burden lets a node with an embedded server lead all streams, or of three nodes that can lead all logs, and no shard. The
// nodes spread the shards again within seconds, so the blow lands at once.
func (r *rig) burden(ctx context.Context, n *node) error {
	if n.witness {
		return r.streams.lead(ctx, n.name)
	}
	return until(ctx, healWait, func() error {
		// Shards are spread sooner than streams are moved, and a hand-over moves no stream that another node leads.
		if err := r.streams.leadLogs(ctx, n.name); err != nil {
			return err
		}
		if err := r.relieve(ctx, n); err != nil {
			return err
		}
		return r.streams.ledBy(ctx, n.name, logPrefix)
	})
}

// killBucket kills the process of three that leads the bucket of the leases, and no shard and no log.
func killBucket(ctx context.Context, r *rig, _ *node) (blow, error) {
	last := r.cluster.nodes[members-1]
	b := killing(last)
	b.victim, b.lasts = nil, electionTime
	return b, until(ctx, healWait, func() error {
		if err := r.streams.leadAll(ctx, leaseStream, last.name); err != nil {
			return err
		}
		if err := r.relieve(ctx, last); err != nil {
			return err
		}
		return r.streams.ledBy(ctx, last.name, leaseStream)
	})
}

// writeJunk needs no healing: what does not continue the log is void, and every node ignores it.
func writeJunk(ctx context.Context, r *rig, _ *node) (blow, error) {
	return blow{land: func() error { return r.streams.junk(ctx) }}, nil
}

// deleteStream needs no healing: the leader makes the stream again from its own log.
func deleteStream(ctx context.Context, r *rig, _ *node) (blow, error) {
	return blow{land: func() error { return r.streams.delete(ctx) }}, nil
}

// deleteBucket deletes the bucket of the lease, and lasts longer than a lease.
func deleteBucket(ctx context.Context, r *rig, _ *node) (blow, error) {
	return blow{land: func() error { return r.streams.deleteBucket(ctx) }, lasts: pauseTime}, nil
}
