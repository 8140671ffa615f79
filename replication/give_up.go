package replication

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/carillon-io/carillon/job"
)

// ErrGivesUpCommits says that a founder would delete a log with more commits that its data lacks than its operator has agreed to
// lose.
var ErrGivesUpCommits = errors.New("replication: the log that is to be given up has commits that the data of this node lacks")

// checkLoss returns how many commits are lost with a log that is given up, and ErrGivesUpCommits if those are more than the options
// allow. Without it a standby that was behind could replace what the others have acknowledged, and nothing would show that. own is
// the end of the data.
func (n *Node) checkLoss(ctx context.Context, lost uint64, own job.Position) error {
	if lost <= n.opts.GiveUpLoses {
		return nil
	}
	return fmt.Errorf("%w: %d, by what NATS has (%s); this data ends with commit %d of epoch %d. Found the cluster with the data of the node that led last; to lose these commits: `carillon cluster found --cluster-name %s --data DIR %s`",
		ErrGivesUpCommits, lost, n.contents(ctx), own.LSN, own.Epoch, n.opts.Cluster, giveUpFlags(n.id, lost))
}

// giveUpFlags returns the flags by which an operator gives a log up, and with it so many commits.
func giveUpFlags(id ClusterID, lost uint64) string {
	if lost == 0 {
		return fmt.Sprintf("--give-up %s", id)
	}
	return fmt.Sprintf("--give-up %s --lose-commits %d", id, lost)
}

// lacks returns how many commits of the stream data lacks that ends with own: those behind it, and those of later epochs before
// it, of which it counts the newest reviewMessages.
func (n *Node) lacks(ctx context.Context, own job.Position) (count uint64, err error) {
	first, last, err := n.stream.Bounds(ctx)
	if err != nil || last < first {
		return 0, err
	}
	c := cursor{tail: tail{cluster: n.id}, stream: n.stream}
	newest, err := c.newestFrame(ctx, first, last)
	if err != nil || newest == nil {
		return 0, err
	}
	count = newest.At.LSN - min(newest.At.LSN, own.LSN)
	if newest.At.Epoch <= own.Epoch {
		return count, nil
	}
	seq, err := c.newestUpTo(ctx, first, last, own.LSN)
	for left := reviewMessages; err == nil && seq >= first && seq > 0 && left > 0; seq, left = seq-1, left-1 {
		var f *Frame
		if f, err = c.readFrame(ctx, seq); f != nil && f.At.Epoch <= own.Epoch {
			break
		}
		if f != nil {
			count++
		}
	}
	return count, err
}

// newestFrame returns the last frame of the stream; nil if none of its newest messages is one.
func (c *cursor) newestFrame(ctx context.Context, first, last uint64) (*Frame, error) {
	for seq, left := last, reviewMessages; seq >= first && seq > 0 && left > 0; seq, left = seq-1, left-1 {
		if f, err := c.readFrame(ctx, seq); err != nil || f != nil {
			return f, err
		}
	}
	return nil, nil
}

// lacksOfAll is lacks for a founder of several shards and the logs of the cluster that it gives up, which has so many. It returns
// the end of the data besides: the one that was divided, or that of shard 0. If neither can be compared, as with a directory that
// an older release has divided, nothing counts as lacking.
func (n *Node) lacksOfAll(ctx context.Context, shards int) (count uint64, own job.Position, err error) {
	if shards == 1 && n.opts.DividedFrom != (job.Position{}) {
		count, err = n.lacks(ctx, n.opts.DividedFrom)
		return count, n.opts.DividedFrom, err
	}
	if shards != len(n.opts.Begins) {
		return 0, own, nil
	}
	for k, lsn := range n.opts.Begins {
		m := Node{opts: n.opts, id: n.id, stream: newJetStream(n.stream.js, n.opts, uint32(k), shards)}
		found, err := m.stream.find(ctx)
		if err != nil {
			return 0, own, err
		}
		if !found {
			continue
		}
		more, err := m.lacks(ctx, job.Position{LSN: lsn, Epoch: math.MaxUint64}) // the options have no epoch of it
		if err != nil {
			return 0, own, err
		}
		count += more
	}
	return count, job.Position{LSN: n.opts.Begins[0]}, nil
}
