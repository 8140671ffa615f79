package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

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
// A founder whose data is divided makes the streams with the positions of its data. Until all are made, the stream of shard
// 0 names it, and the other nodes wait for it.
//
// It returns ErrOtherShards if the cluster has another number, ErrOtherCluster and ErrStreamGone as [NewNode] does, and
// ErrOwnData if a node with data of its own is to found several shards. [IsFinal] reports whether trying again can help.
func Divide(ctx context.Context, opts Options) (shards int, err error) {
	want := opts.Shards
	opts.Shard = 0
	if opts.dividedData() && opts.Shards == 0 {
		opts.Shards = len(opts.Begins)
	}
	opts = opts.withDefaults()
	if err := job.ValidateShards(opts.Shards); err != nil {
		return 0, fmt.Errorf("%w: %w", errOptions, err)
	}
	js, err := jetstream.New(opts.Conn)
	if err != nil {
		return 0, fmt.Errorf("replication: %w", err)
	}
	if opts.dividedData() && want != 0 && want != len(opts.Begins) {
		return 0, fmt.Errorf("%w: the data of this node is divided into %d, and it is to found %d", ErrOtherShards, len(opts.Begins), want)
	}
	first := newJetStream(js, opts, 0, opts.Shards)
	found, err := first.find(ctx)
	if err == nil && found && opts.dividedData() {
		found, err = meet(ctx, first, &opts)
	}
	if err != nil {
		return 0, err
	}
	if !found {
		if opts.Own && opts.OwnShards > 1 {
			return 0, fmt.Errorf("%w, of %d shards, and there is no cluster %q yet: `carillon cluster found --cluster-name %s --data DIR` makes this node its founder, whose data the others are sent",
				ErrOwnData, opts.OwnShards, opts.Cluster, opts.Cluster)
		}
		if opts.Shards == 1 {
			return 1, opts.awaitDivision(ctx, want) // the node founds it
		}
		if opts.isMember() && (opts.Recreate || opts.RecreatedElsewhere) {
			return opts.Shards, nil // each shard makes its stream anew, or waits for it
		}
		if err := found0(ctx, first, opts); err != nil {
			return 0, err
		}
	}
	return divided(ctx, first, opts, want)
}

// awaitDivision returns an error that is not final while another node is about to found the cluster, if this one has no data and takes
// whatever number of shards the cluster has: the founder's data may be divided.
func (o *Options) awaitDivision(ctx context.Context, want int) error {
	if want != 0 || o.Own || o.Found || o.isMember() {
		return nil
	}
	return (&Node{opts: *o}).awaitFounder(ctx)
}

// found0 makes the stream of shard 0 for a new cluster with several shards. Another node may be faster.
func found0(ctx context.Context, first *jetStream, opts Options) error {
	switch {
	case opts.dividedData():
		first.shard.founder = opts.Node
		return makeFound(ctx, first, opts.Cluster, opts.ID, opts.Begins[0])
	case opts.isMember():
		return fmt.Errorf("%w: there is no stream %s, and the data of this node was replicated by the one of its cluster; check that --prefix %s and --nats are those of the cluster; only if NATS has lost the logs of the cluster, start the nodes with the newest data with --recreate-stream --shards %d", ErrStreamGone, first.name, opts.Prefix, opts.Shards)
	case opts.Own || opts.Found:
		return fmt.Errorf("%w: a cluster with %d shards begins without data; start with an empty directory, or divide the data of this one before: carillon shard divide --data DIR --shards %d --to NEWDIR --cluster-name %s",
			ErrOwnData, opts.Shards, opts.Shards, opts.Cluster)
	}
	node := &Node{opts: opts}
	if err := node.awaitFounder(ctx); err != nil {
		return err
	}
	return makeFound(ctx, first, opts.Cluster, newClusterID(), 0)
}

// dividedData reports whether the node is a founder whose data is divided into several shards.
func (o *Options) dividedData() bool { return o.Found && len(o.Begins) > 1 }

// isMember reports whether the data of the node was replicated by the streams of a cluster, and is no founder's.
func (o *Options) isMember() bool { return o.ID != ClusterID{} && !o.Found }

// CheckOwn returns ErrOwnData if the data of a node, which belongs to no cluster yet, is not part of the log of the shard of the
// options: of a cluster with several shards a node has to know that of all of them before the first becomes a member's.
func CheckOwn(ctx context.Context, opts Options) error {
	opts = opts.withDefaults()
	js, err := jetstream.New(opts.Conn)
	if err != nil {
		return fmt.Errorf("replication: %w", err)
	}
	node := &Node{opts: opts, stream: newJetStream(js, opts, opts.Shard, opts.Shards)}
	found, err := node.stream.find(ctx)
	if err != nil || !found || !opts.Own {
		return err
	}
	if node.id, err = node.stream.owner(opts.Cluster); err != nil {
		return err
	}
	return node.joinOwn(ctx)
}

// begin returns the LSN after which the log of a shard begins.
func (o *Options) begin(shard int) uint64 {
	if o.dividedData() {
		return o.Begins[shard]
	}
	return 0
}

// meet judges the stream of shard 0 that a founder with divided data has found, and reports whether it is the one that
// this founder has made. It gives up the cluster that has them, if it is the one that the options name.
func meet(ctx context.Context, first *jetStream, opts *Options) (own bool, err error) {
	metadata := first.handle().CachedInfo().Config.Metadata
	id, err := ParseClusterID(metadata[metaClusterID])
	switch {
	case err != nil, id == opts.ID:
		return true, nil // divided says what is wrong with a stream that was not made by Carillon
	case metadata[metaCluster] != opts.Cluster || id != opts.GiveUp || opts.GiveUp == ClusterID{}:
		return false, fmt.Errorf("%w: this node is to found a cluster, and NATS has the log of one: %q with the id %s, in the stream %s; use another prefix or, to give that log up for good, "+
			"with all that its nodes alone have: `carillon cluster found --cluster-name %s --data DIR --give-up %s`", ErrOtherCluster, metadata[metaCluster], id, first.name, opts.Cluster, id)
	}
	return false, giveUp(ctx, first, opts)
}

// giveUp deletes the streams of the cluster that the founder gives up, unless a node of that cluster is there.
func giveUp(ctx context.Context, first *jetStream, opts *Options) error {
	shards, err := ShardsOf(first.handle().CachedInfo().Config.Metadata)
	if err != nil {
		return fmt.Errorf("%w: the stream %s: %w", ErrOtherShards, first.name, err)
	}
	given := *opts
	given.Shards = shards
	node := &Node{opts: given, id: opts.GiveUp, stream: first}
	alive, err := node.hearAny(ctx)
	if err != nil {
		return err
	}
	if alive != "" {
		return fmt.Errorf("%w: node %s of the cluster %q with the id %s is there; stop all its nodes first", ErrClusterLives, alive, opts.Cluster, opts.GiveUp)
	}
	lost, own, err := node.lacksOfAll(ctx, shards)
	if err == nil {
		err = node.checkLoss(ctx, lost, own)
	}
	if err != nil {
		return err
	}
	opts.Logger.Warn("the log of a cluster is given up: this node founds the cluster anew with its own data, which is divided",
		slog.String("given_up", node.contents(ctx)), slog.Uint64("lost_commits", lost), slog.Int("shards", shards), slog.String("cluster_id", opts.ID.String()))
	for n := shards - 1; n >= 0; n-- { // that of shard 0, which says that there are others, is the last one
		name := StreamName(opts.Prefix, uint32(n))
		if err := first.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("replication: delete the stream %s: %w", name, err)
		}
	}
	return nil
}

// makeFound makes a stream whose log begins after an LSN, and opens it if another node was faster.
func makeFound(ctx context.Context, s *jetStream, cluster string, id ClusterID, after uint64) error {
	if err := s.make(ctx, cluster, id, after); err != nil {
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
	if err == nil && shards > 1 && opts.Own && !opts.Discard && opts.OwnShards != shards {
		err = fmt.Errorf("%w, and not of all %d shards of the cluster %q; use an empty directory, or give this one's data up for the cluster's: start once with --discard-data, which puts it aside",
			ErrOwnData, shards, opts.Cluster)
	}
	if err == nil && shards > 1 && opts.isMember() && id != opts.ID && !opts.Discard {
		err = first.isOfAnother(id, opts.ID)
	}
	if err != nil || shards == 1 || metadata[metaWhole] != "" {
		return shards, err
	}
	if founder := metadata[metaFounder]; founder != "" && !(opts.dividedData() && id == opts.ID) {
		return 0, fmt.Errorf("%w: %s makes the streams of %q for the data that it has", errFounding, founder, opts.Cluster)
	}
	for n := 1; n < shards; n++ {
		s := newJetStream(first.js, opts, uint32(n), shards)
		if err := makeFound(ctx, s, opts.Cluster, id, opts.begin(n)); err != nil {
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
		config: streamConfig(name, subject, o.Replicas, o.StreamBytesMax), shard: layout{shard: shard, shards: shards},
	}
}

// markWhole notes in the metadata of the stream that the streams of all shards were made.
func (s *jetStream) markWhole(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	config := s.handle().CachedInfo().Config
	config.Metadata[metaWhole] = "yes"
	delete(config.Metadata, metaFounder)
	if _, err := s.js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("replication: note in the stream %s that all shards have theirs: %w", s.name, err)
	}
	return nil
}
