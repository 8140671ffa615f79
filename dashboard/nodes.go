package dashboard

import (
	"net/http"

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

// handOver asks the leader of the cluster to hand the leadership over to the node that the form names.
func (v *visit) handOver() (string, view) {
	if v.dashboard.opts.HandOver == nil {
		return "", failed(refusal(client.CodeNotFound, http.StatusNotFound, "this node has no cluster, so there is no other node to hand over to"))
	}
	to, err := v.dashboard.opts.HandOver(v.req.Context(), v.form.Get("to"))
	if err == nil {
		return v.link("/nodes", "notice", "handed", "n", to), view{}
	}
	p := v.nodes()
	p.err, p.live = err, nil
	return "", p
}
