package replication

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/job"
)

// metaWhole is the key of the metadata of shard 0's stream that says that the streams of all shards were made. Without
// it, a stream that is missing was not made yet; with it, that stream is gone.
const metaWhole = "carillon_whole"

// Divide returns how many shards the cluster of the options has. If there is no cluster yet and the options want
// several shards, it makes their streams, so that each node of each shard finds its log. The shard of the options counts
// for nothing.
//
// The stream of shard 0 decides, because JetStream makes a stream of a name once: its metadata names the cluster and the
// number of shards. A founder that dies leaves streams that are missing; the next node makes them. Options.Shards of 0
// takes what the cluster has, and one shard if there is none.
//
// It returns ErrOtherShards if the cluster has another number, ErrOtherCluster and ErrStreamGone as [NewNode] does, and
// ErrOwnData if a node with data of its own is to found several shards. [IsFinal] reports whether trying again can help.
func Divide(ctx context.Context, opts Options) (shards int, err error) {
	want := opts.Shards
	opts.Shard = 0
	opts = opts.withDefaults()
	if err := job.ValidateShards(opts.Shards); err != nil {
		return 0, fmt.Errorf("%w: %w", errOptions, err)
	}
	js, err := jetstream.New(opts.Conn)
	if err != nil {
		return 0, fmt.Errorf("replication: %w", err)
	}
	first := newJetStream(js, opts, 0, opts.Shards)
	found, err := first.find(ctx)
	if err != nil {
		return 0, err
	}
	if !found {
		if opts.Shards == 1 {
			return 1, nil // the node founds it
		}
		if err := found0(ctx, first, opts); err != nil {
			return 0, err
		}
	}
	return divided(ctx, first, opts, want)
}

// found0 makes the stream of shard 0 for a new cluster with several shards. Another node may be faster.
func found0(ctx context.Context, first *jetStream, opts Options) error {
	switch {
	case opts.ID != ClusterID{}:
		return fmt.Errorf("%w: there is no stream %s, and the data of this node was replicated by it", ErrStreamGone, first.name)
	case opts.Own || opts.Found:
		return fmt.Errorf("%w: a cluster with %d shards begins without data; start with an empty directory", ErrOwnData, opts.Shards)
	}
	node := &Node{opts: opts}
	if err := node.awaitFounder(ctx); err != nil {
		return err
	}
	return makeFound(ctx, first, opts.Cluster, newClusterID())
}

// makeFound makes a stream, and opens it if another node was faster.
func makeFound(ctx context.Context, s *jetStream, cluster string, id ClusterID) error {
	if err := s.make(ctx, cluster, id, 0); err != nil {
		return err
	}
	found, err := s.find(ctx)
	if err == nil && !found {
		err = fmt.Errorf("replication: the stream %s is not there yet", s.name)
	}
	return err
}

// divided reads the number of shards from the stream of shard 0, and makes the streams that its founder has not made.
func divided(ctx context.Context, first *jetStream, opts Options, want int) (int, error) {
	metadata := first.handle().CachedInfo().Config.Metadata
	shards, err := ShardsOf(metadata)
	if err != nil {
		return 0, fmt.Errorf("%w: the stream %s: %w", ErrOtherShards, first.name, err)
	}
	if want == 0 {
		first.shard.shards = shards
	}
	id, err := first.owner(opts.Cluster)
	if err != nil || shards == 1 || metadata[metaWhole] != "" {
		return shards, err
	}
	for n := 1; n < shards; n++ {
		s := newJetStream(first.js, opts, uint32(n), shards)
		if err := makeFound(ctx, s, opts.Cluster, id); err != nil {
			return 0, err
		}
		if other, err := s.owner(opts.Cluster); err != nil || other != id {
			return 0, errors.Join(err, fmt.Errorf("%w: the stream %s is of a cluster that was founded before; delete it, or use another prefix", ErrOtherCluster, s.name))
		}
	}
	return shards, first.markWhole(ctx)
}

// newJetStream returns the stream of a shard, of which nothing is known yet.
func newJetStream(js jetstream.JetStream, o Options, shard uint32, shards int) *jetStream {
	o.Shard = shard
	name, subject := StreamName(o.Prefix, shard), subjectsOf(o).log()
	return &jetStream{
		seat: seat{name: name}, js: js, subject: subject,
		config: streamConfig(name, subject, o.Replicas, o.StreamBytesMax), shard: layout{shard, shards},
	}
}

// markWhole notes in the metadata of the stream that the streams of all shards were made.
func (s *jetStream) markWhole(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	config := s.handle().CachedInfo().Config
	config.Metadata[metaWhole] = "yes"
	if _, err := s.js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("replication: note in the stream %s that all shards have theirs: %w", s.name, err)
	}
	return nil
}
