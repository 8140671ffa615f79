package replication

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// Operation is what an operator asks of the cluster, for the audit log.
type Operation struct {
	Action job.Action
	Node   string // that it is about: that is to lead or hold a shard, or that drains, or is taken out
	Detail string // the shard, and the node that has it now
	By     string // what the caller calls itself; "" if it does not say
}

// byHeader is the header in which a caller names itself.
const byHeader = "Carillon-By"

// audit records an operation before it is carried out, so that no change is without an entry. If the change fails afterwards, the
// entry is of one that did not come about.
func (n *Node) audit(ctx context.Context, op Operation) error {
	if n.opts.Audit == nil {
		return nil
	}
	if err := n.opts.Audit(ctx, op); err != nil {
		n.warn("an operator's request is not carried out, because the audit log has not confirmed its entry", err)
		return apierr.Errorf(apierr.Unavailable, "", "the audit log did not confirm the entry of this request, so it is not carried out: no leader and no place has changed; ask again")
	}
	return nil
}

// auditHandover records that an operator asks this leader to hand over. The log must have acknowledged commits a moment ago, so
// that a request which is refused and repeated while it stands still makes no entries.
func (n *Node) auditHandover(ctx context.Context, h handover, to string) error {
	if h.own {
		return nil
	}
	if _, err := n.awaitPrompt(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, n.prompt())
	defer cancel()
	return n.audit(ctx, Operation{Action: job.ActionHandOver, Node: to, Detail: "from " + n.opts.Node + n.ofShard(), By: h.by})
}

// ofShard returns the end of a detail that names the shard, if there are several.
func (n *Node) ofShard() string {
	if n.opts.Shards == 1 {
		return ""
	}
	return fmt.Sprintf(", shard %d", n.opts.Shard)
}

// placeActions are the actions of the verbs of a [PlaceRequest].
var placeActions = map[string]job.Action{
	PlaceDrain: job.ActionDrainNode, PlaceKeep: job.ActionKeepNode, PlaceRemove: job.ActionRemoveNode, PlaceMove: job.ActionMoveShard,
}

// auditPlace records a request about the places of shards in the log of the first shard, which this process leads. From is the
// node whose copy goes by a move.
func (h *Host) auditPlace(ctx context.Context, q *PlaceRequest, by, from string) error {
	op := Operation{Action: placeActions[q.Verb], Node: q.Node, By: by}
	if q.Verb == PlaceMove {
		op.Node, op.Detail = q.To, fmt.Sprintf("shard %d", q.Shard)
		if from != "" {
			op.Detail = fmt.Sprintf("from %s, shard %d", from, q.Shard)
		}
	}
	m := h.member(everywhere)
	if m == nil {
		return ErrDeposed
	}
	return m.audit(ctx, op)
}
