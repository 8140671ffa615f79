package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/inbox"
)

// The reasons for which a node cannot enter a cluster. [NewNode] returns them.
var (
	// ErrStreamGone says that this node's cluster had a stream and that this stream does not exist any more.
	ErrStreamGone = errors.New("replication: the stream of the cluster is gone")
	// errNotRecreated says that another node is to make the stream, and has not yet.
	errNotRecreated = errors.New("replication: the stream of the shard is not there yet")
	// ErrOwnData says that this node has data that is not part of the cluster's log, and that joining would
	// replace it.
	ErrOwnData = errors.New("replication: this data directory holds data of its own")
	// ErrClusterLives says that a log cannot be given up because a node of its cluster is alive.
	ErrClusterLives = errors.New("replication: the log that is to be given up is in use")
)

// join finds the stream, or makes it for a new cluster.
//
// The refusals all serve one promise: no start replaces data that is not the cluster's, or begins a log beside
// existing data, without an option that says so. Only a node without data, of no cluster, may begin a new log by itself.
func (n *Node) join(ctx context.Context) error {
	found, err := n.stream.find(ctx)
	known := n.opts.ID != ClusterID{}
	switch {
	case err != nil:
		return err
	case found:
		return n.joinFound(ctx)
	case n.discard.Load() && !known:
		return fmt.Errorf("%w, and there is no cluster %q whose data could replace it: NATS has no stream %s; start a node of the cluster first, or leave out --discard-data",
			ErrOwnData, n.opts.Cluster, n.stream.name)
	case n.opts.Found:
		return n.makeStream(ctx, n.opts.ID)
	case known && n.opts.Recreate:
		n.stream.shard.whole = true // no node makes those that are missing without being told to
		n.recreates = true
		return n.makeStream(ctx, n.opts.ID)
	case known && n.opts.RecreatedElsewhere:
		return fmt.Errorf("%w: there is no stream %s; waiting for the node that makes it anew", errNotRecreated, n.stream.name)
	case known:
		return fmt.Errorf("%w: there is no stream %s, and the data of this node was replicated by the one of its cluster; check that --prefix %s and --nats are those of the cluster; only if NATS has lost the log, and this node has the newest data of the cluster, start it with --recreate-stream", ErrStreamGone, n.stream.name, n.opts.Prefix)
	case n.opts.Own:
		return fmt.Errorf("%w, and there is no cluster %q yet: `carillon cluster found --cluster-name %s --data DIR` makes this node its founder, whose data the others are sent",
			ErrOwnData, n.opts.Cluster, n.opts.Cluster)
	}
	if err := n.awaitFounder(ctx); err != nil {
		return err
	}
	return n.makeStream(ctx, newClusterID())
}

// makeStream makes the stream. Two nodes may do that at the same time: the metadata of the stream decides which
// cluster exists. So the result is always that of joinFound, whichever node was first.
func (n *Node) makeStream(ctx context.Context, id ClusterID) error {
	if err := n.stream.make(ctx, n.opts.Cluster, id, n.opts.History.Last().LSN); err != nil {
		return err
	}
	found, err := n.stream.find(ctx)
	if err == nil && !found {
		err = fmt.Errorf("replication: the stream %s is not there yet", n.stream.name)
	}
	if err != nil {
		return err
	}
	return n.joinFound(ctx)
}

// joinFound makes this node a member of the cluster whose stream exists, or returns why it cannot be one.
//
// When it returns nil, id is the cluster's, and discard says whether the first session asks for a checkpoint.
func (n *Node) joinFound(ctx context.Context) (err error) {
	if n.id, err = n.stream.owner(n.opts.Cluster); err != nil {
		return err
	}
	known := n.opts.ID != ClusterID{}
	switch {
	case n.id == n.opts.ID:
		n.discard.Store(false) // the data belongs to this cluster already
		return nil
	case n.discard.Load():
		return nil
	case n.opts.Found && n.id == n.opts.GiveUp:
		return n.replaceStream(ctx)
	case n.opts.Found:
		lost, err := n.lacks(ctx, n.opts.History.Last())
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: this node is to found a cluster, and NATS has the log of one: %s; to join that one start once with --discard-data; "+
			"to give its log up for good, with all that its nodes alone have: `carillon cluster found --cluster-name %s --data DIR %s`",
			ErrOtherCluster, n.contents(ctx), n.opts.Cluster, giveUpFlags(n.id, lost))
	case known:
		return n.stream.isOfAnother(n.id, n.opts.ID)
	case n.opts.Own:
		return n.joinOwn(ctx)
	}
	return nil
}

// isOfAnother returns the error of a node whose data is that of another cluster than the stream.
func (s *jetStream) isOfAnother(id, own ClusterID) error {
	return fmt.Errorf("%w: the stream %s is that of %s, and the data of this node that of %s; use an empty data directory, or another prefix; "+
		"--discard-data lets the node join all the same, and puts its data aside", ErrOtherCluster, s.name, id, own)
}

// joinOwn admits a node with data of its own if its log is part of the cluster's: a restored backup, or a node
// that has lost the file that names its cluster.
func (n *Node) joinOwn(ctx context.Context) error {
	c := cursor{tail: tail{cluster: n.id, next: n.opts.Next}, stream: n.stream, own: n.opts.History}
	part, err := c.isPart(ctx)
	if err != nil || part {
		return err
	}
	last := n.opts.History.Last()
	lost, err := n.lacks(ctx, last)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w, up to commit %d, which is no part of the log of cluster %q (%s). "+
		"To give this directory's data up for the cluster's, start once with --discard-data: it is put aside, not removed. "+
		"To keep it and give up the cluster's log, with all that its nodes alone have: `carillon cluster found --cluster-name %s --data DIR %s`",
		ErrOwnData, last.LSN, n.opts.Cluster, n.contents(ctx), n.opts.Cluster, giveUpFlags(n.id, lost))
}

// isPart reports whether the stream shows that the end of this node's log is part of the cluster's: the stream
// has that commit, or begins with the one after it. No proof is not a proof of the contrary: the stream may
// have been trimmed beyond that commit.
func (c *cursor) isPart(ctx context.Context) (bool, error) {
	first, last, err := c.stream.Bounds(ctx)
	if err != nil {
		return false, err
	}
	end := c.own.Last()
	seq, err := c.newestUpTo(ctx, first, last, end.LSN)
	if err != nil {
		return false, err
	}
	for left := reviewMessages; seq >= first && seq > 0 && left > 0; seq, left = seq-1, left-1 {
		if f, err := c.readFrame(ctx, seq); err != nil || f != nil && f.At == end {
			return err == nil, err
		}
	}
	for seq = first; seq <= last; seq++ {
		if f, err := c.readFrame(ctx, seq); err != nil || f != nil {
			return f != nil && f.At.LSN == end.LSN+1 && f.Prev == end.Hash, err
		}
	}
	return false, nil
}

// contents describes the contents of the stream, for messages.
func (n *Node) contents(ctx context.Context) string {
	first, last, err := n.stream.Bounds(ctx)
	text := fmt.Sprintf("stream %s, cluster id %s", n.stream.name, n.id)
	if err != nil || last < first {
		return text + ", no commits"
	}
	c := cursor{tail: tail{cluster: n.id}, stream: n.stream}
	oldest, err1 := c.readFrame(ctx, first)
	newest, err2 := c.readFrame(ctx, last)
	if err1 != nil || err2 != nil || oldest == nil || newest == nil {
		return fmt.Sprintf("%s, %d messages", text, last-first+1)
	}
	return fmt.Sprintf("%s, commits %d to %d, the newest of %s", text, oldest.At.LSN, newest.At.LSN, newest.Time.Time().UTC().Format(time.RFC3339))
}

// replaceStream deletes the stream of the cluster that is given up, and makes the stream of the cluster that
// this node founds. This is the only place that deletes a log. A node that is silent during the check, as while
// it hangs, is not found.
func (n *Node) replaceStream(ctx context.Context) error {
	node, err := n.hearAny(ctx)
	if err != nil {
		return err
	}
	if node != "" {
		return fmt.Errorf("%w: node %s of the cluster %q with the id %s is there; stop all its nodes first, or join it", ErrClusterLives, node, n.opts.Cluster, n.id)
	}
	lost, err := n.lacks(ctx, n.opts.History.Last())
	if err == nil {
		err = n.checkLoss(ctx, lost, n.opts.History.Last())
	}
	if err != nil {
		return err
	}
	n.opts.Logger.Warn("the log of a cluster is given up: this node founds the cluster anew with its own data",
		slog.String("given_up", n.contents(ctx)), slog.Uint64("lost_commits", lost), slog.Uint64("lsn", n.opts.History.Last().LSN), slog.String("cluster_id", n.opts.ID.String()))
	if err := n.stream.js.DeleteStream(ctx, n.stream.name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("replication: delete the stream %s: %w", n.stream.name, err)
	}
	return n.makeStream(ctx, n.opts.ID)
}

// hearAny listens long enough to hear a beat of any node of the cluster, and returns the name of the first node
// that it hears; "" if it hears none. It listens for five times the interval of the beats.
func (n *Node) hearAny(ctx context.Context) (string, error) {
	sub, err := n.opts.Conn.SubscribeSync(n.subjects().beat())
	if err != nil {
		return "", err
	}
	defer func() { _ = sub.Unsubscribe() }()
	hearing, cancel := context.WithTimeout(ctx, beatFresh)
	defer cancel()
	for {
		m, err := sub.NextMsgWithContext(hearing)
		if err != nil {
			return "", ctx.Err()
		}
		var b beat
		if json.Unmarshal(m.Data, &b) == nil && b.Cluster == n.id.String() {
			return b.Node, nil
		}
	}
}

// founderReply says that a node is about to found the cluster.
type founderReply struct {
	Node    string `json:"node"`
	Cluster string `json:"cluster"`
}

// replyFounder is the value of the reply header that marks such a reply.
const replyFounder = "cluster.founder"

// errFounding says that an empty node must wait, because another node is about to found the cluster with its
// data.
var errFounding = errors.New("replication: another node is going to found the cluster")

// AnswerFounder answers, until the caller ends the returned subscription, that a node is about to found a
// cluster. It must begin before JetStream serves; otherwise an empty node could found the cluster first.
func AnswerFounder(desk *inbox.Desk, prefix string, shard uint32, node, cluster string) (*inbox.Subscription, error) {
	reply, err := json.Marshal(founderReply{node, cluster})
	if err != nil {
		return nil, err
	}
	return desk.Subscribe(subjects{prefix: prefix, shard: shard}.founder(), func(m *inbox.Request) {
		_ = m.Answer(replyFounder, nil, reply) // the node that asked asks again
	})
}

// awaitFounder returns nil if no node is about to found the cluster, and otherwise an error that is not final.
// It ignores replies that do not come from a node, and goes on waiting, because a founder may reply after them.
func (n *Node) awaitFounder(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, founderTime)
	defer cancel()
	var founder founderReply
	foreign := false
	err := askEach(ctx, n.opts.Conn, n.subjects().founder(), func(m *nats.Msg) (enough bool) {
		if json.Unmarshal(m.Data, &founder) != nil || founder.Node == "" {
			foreign = true
			return false
		}
		return true
	})
	switch {
	case err == nil:
		return fmt.Errorf("%w: %s founds %q", errFounding, founder.Node, founder.Cluster)
	case errors.Is(err, nats.ErrNoResponders), foreign:
		return nil
	}
	return fmt.Errorf("replication: ask for the founder of the cluster: %w", err)
}

// founderTime bounds the wait for the reply of a founder.
const founderTime = 500 * time.Millisecond
