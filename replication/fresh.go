package replication

import (
	"context"
	"errors"
)

// freshLog is the size of a log, in bytes, up to which a node without data of a shard reads it from the stream: that takes no
// more than a moment, and costs the leader nothing.
const freshLog = 1 << 20

// errFresh is the reason for a checkpoint of a node that has nothing of the shard.
var errFresh = errors.New("replication: this node has no data of the shard, and a checkpoint is shorter than the log")

// receiveFresh brings a node that has nothing of a shard a checkpoint of the leader, where the log is longer than freshLog: the
// log has each change of a job since the stream was made, the checkpoint has each job once. It tries once: if there is no
// leader, or if the checkpoint does not arrive, the node reads the stream from the start. The error is a failure of Local.
func (n *Node) receiveFresh(ctx context.Context) error {
	if n.opts.Shards == 1 || n.fresh || n.local.Last().LSN > 0 {
		return nil
	}
	n.fresh = true
	if _, _, err := n.stream.Bounds(ctx); err != nil || n.stream.bytes() <= freshLog {
		return nil
	}
	if _, err := n.awaitLeader(ctx); err != nil {
		return nil
	}
	return n.bootstrap(ctx, errFresh)
}
