package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/carillon-io/carillon/apierr"
)

// successor returns the standby to hand over to: the named one, or the one with the most commits.
func (n *Node) successor(name string) (string, error) {
	if list := n.successors(name); len(list) > 0 {
		return list[0].Node, nil
	}
	return "", n.noSuccessor(name)
}

// noSuccessor says that no standby can take over. A node of this shard that is heard can within a while, whatever it does at
// present: it catches up, receives a checkpoint, or has just led itself.
func (n *Node) noSuccessor(name string) error {
	now := n.opts.Boot()
	comes := slices.ContainsFunc(n.peers.all(now), func(p peer) bool {
		return p.Node != n.opts.Node && now-p.seen < beatFresh && (name == "" || p.Node == name)
	})
	switch {
	case comes && name != "":
		return apierr.Errorf(apierr.Unavailable, "", "node %s is not level with the leader %s yet; nothing has changed, ask again", name, n.opts.Node)
	case comes:
		return apierr.Errorf(apierr.Unavailable, "", "there is no standby that is level with the leader yet; nothing has changed, ask again")
	case name != "":
		return fmt.Errorf("replication: %s is no standby of this cluster that is level with the leader", name)
	}
	return errors.New("replication: there is no standby that is level with the leader")
}

// successors returns the standbys that are level with this node according to their beats, those with the most
// commits first, and those last that drain: they lead only if no other node can.
func (n *Node) successors(name string) (list []peer) {
	own, now := n.local.Last().LSN, n.opts.Boot()
	for _, p := range n.peers.all(now) {
		fits := p.Node != n.opts.Node && p.Role == RoleStandby && now-p.seen < beatFresh && p.LSN+inSyncLSN >= own
		if fits && (name == "" && n.host.mayHold(n.opts.Shard, p.Node) || name == p.Node) {
			list = append(list, p)
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		if a, b := n.host.drains(list[i].Node), n.host.drains(list[j].Node); a != b {
			return b
		}
		return list[i].LSN > list[j].LSN
	})
	return list
}

// liveSuccessor returns a standby to hand over to that answers at this moment. A beat is up to beatFresh old,
// and to hand over to a node that has just died would leave the cluster without a leader for handoverTime.
func (n *Node) liveSuccessor(ctx context.Context, name string) (string, error) {
	if name != "" && n.host.drains(name) {
		return "", apierr.Errorf(apierr.InvalidField, "to", "node %s drains: let it have its share again before; nothing has changed", name)
	}
	silent := n.successors(name)
	for _, p := range silent {
		if n.host.isThere(ctx, p.Node) {
			return p.Node, nil
		}
		n.peers.forget(p.Node)
	}
	if len(silent) > 0 { // the next beat shows whether it was busy
		return "", apierr.Errorf(apierr.Unavailable, "", "node %s does not answer at the moment; nothing has changed, ask again", silent[0].Node)
	}
	return "", n.noSuccessor(name)
}
