package replication

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/placement"
)

// A node that is gone for good is taken out of the places of all shards, and out of NATS if the NATS servers are embedded.

// memberTime bounds the question whether NATS counts a node.
const memberTime = 8 * time.Second

// isLeftInNATS reports whether a request is to remove a node that the cluster does not know any more and NATS still counts: it is for
// NATS alone to forget it.
func (h *Host) isLeftInNATS(ctx context.Context, q *PlaceRequest) (bool, error) {
	if q.Verb != PlaceRemove || h.opts.IsMember == nil {
		return false, nil
	}
	o := h.outlook(h.opts.Boot())
	unknown := placement.CanRemove(o.nodes, o.placed(), q.Node)
	if !errors.Is(unknown, placement.ErrNoNode) {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, memberTime)
	defer cancel()
	is, err := h.opts.IsMember(ctx, q.Node)
	if refusal, isRefusal := errors.AsType[*apierr.Error](err); isRefusal {
		return false, refusal
	}
	if err != nil {
		return false, apierr.Errorf(apierr.Unavailable, "node", "%s; and NATS does not say whether it counts one of this name; ask again", unknown)
	}
	return is, nil
}

// remove takes a node that is gone for good out of all places. A copy of a shard that it alone has is not given up.
func (h *Host) remove(ctx context.Context, o *outlook, node string) error {
	for _, s := range o.placed() {
		at := o.places[s.Number]
		if !at.value.has(node) {
			continue
		}
		if err := h.places.put(ctx, h.keys, at, at.value.without(node)); err != nil {
			return err
		}
	}
	if at := o.drains[node]; at.value.Drains {
		if err := h.places.putDrain(ctx, h.keys, node, at, false); err != nil {
			return err
		}
	}
	h.forgetNode(node)
	return nil
}

// forgetTime bounds how long NATS is asked to forget a node.
const forgetTime = 5 * time.Second

// forgetInNATS lets NATS forget a node that was taken out of the cluster. If NATS does not, the operator must ask again: the process that
// was asked may die, and nothing but NATS itself knows then what is left to do.
func (h *Host) forgetInNATS(ctx context.Context, node string) (pending string, err error) {
	if h.opts.Forget == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, forgetTime)
	defer cancel()
	if pending, err = h.opts.Forget(ctx, node); err != nil {
		return "", apierr.Errorf(apierr.Unavailable, "node", "node %s is out of the cluster, and NATS still counts its server as a vote that is missing (%s); ask again", node, err)
	}
	return pending, nil
}
