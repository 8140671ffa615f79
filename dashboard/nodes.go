package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/client"
)

// nodesBody is the content of the page of the nodes, besides the status that each page has.
type nodesBody struct {
	// MayHandOver says that this server can ask the leader to hand over; the reader needs the right besides.
	MayHandOver bool
}

// nodes returns the page of the nodes of the cluster, as this node sees them.
func (v *visit) nodes() view {
	p := view{page: "nodes", title: "Nodes", active: "/nodes", body: &nodesBody{MayHandOver: v.dashboard.opts.HandOver != nil}, live: []string{"node-list"}}
	_, p.err = v.client.Status(v.req.Context())
	return p
}

// CanFollow reports whether a node can be handed the leadership, as far as its role says.
func (*nodesBody) CanFollow(n client.ClusterNode) bool { return n.Role == "standby" }

// Followers returns the replicas of a shard that do not lead it.
func (*nodesBody) Followers(s client.ShardStatus) []client.ShardReplica {
	return slices.DeleteFunc(slices.Clone(s.Replicas), func(r client.ShardReplica) bool { return r.Node == s.Leader })
}

// IsSilent reports whether a replica was not heard of for so long that the page says so.
func (*nodesBody) IsSilent(r client.ShardReplica) bool {
	return time.Duration(r.SilentMS*float64(time.Millisecond)) >= silentAfter
}

// Heirs returns the nodes that a shard can be handed over to, as far as their roles say; none without a leader to do it.
func (b *nodesBody) Heirs(s client.ShardStatus) (names []string) {
	for _, r := range b.Followers(s) {
		if s.HasLeader && r.Role == "standby" {
			names = append(names, r.Node)
		}
	}
	return names
}

// handOver asks the leader of the shard that the form names, or of the only one, to hand the leadership over to the node that
// the form names.
func (v *visit) handOver() (string, view) {
	if v.dashboard.opts.HandOver == nil {
		return "", failed(refusal(client.CodeNotFound, http.StatusNotFound, "this node has no cluster, so there is no other node to hand over to"))
	}
	shard, err := strconv.ParseUint(cmp.Or(v.form.Get("shard"), "0"), 10, 32)
	if err != nil {
		return "", failed(invalid("shard", "%q is no number of a shard", v.form.Get("shard")))
	}
	to, err := v.dashboard.opts.HandOver(v.req.Context(), uint32(shard), v.form.Get("to"), cmp.Or(v.reader.Name, v.by))
	if err == nil {
		return v.link("/nodes", "notice", "handed", "n", to), view{}
	}
	p := v.nodes()
	p.err, p.live = err, nil
	return "", p
}
