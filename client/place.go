package client

import "context"

// PlaceRequest asks the leader of shard 0 to change which nodes hold copies of shards. In a cluster of one shard, of which each node
// has a copy, the only verb is [PlaceRemove].
type PlaceRequest struct {
	// Verb is one of [PlaceDrain], [PlaceKeep] and [PlaceRemove], with Node, or [PlaceMove], with Shard and To.
	Verb  string `json:"verb"`
	Node  string `json:"node,omitempty"`
	Shard uint32 `json:"shard,omitempty"`
	To    string `json:"to,omitempty"`
}

// The verbs of a [PlaceRequest].
const (
	PlaceDrain  = "drain"  // the node is to lead nothing, and to hold no shard but the first
	PlaceKeep   = "keep"   // a node that drains is to have its share again
	PlaceRemove = "remove" // the node, which is gone, does not come back: other nodes get copies of what it held, and embedded NATS servers forget it
	PlaceMove   = "move"   // the node To is to hold the shard
)

// PlaceReply answers a [PlaceRequest].
type PlaceReply struct {
	Node string `json:"node"`           // that answers
	From string `json:"from,omitempty"` // of a move: the node whose copy goes
	// Pending is, of a removal, what NATS has still to do before the next node may die; "" if nothing.
	Pending string `json:"pending,omitempty"`
	Error   string `json:"error,omitempty"` // why nothing changes; "" if it does
	Code    Code   `json:"code,omitempty"`  // of the error
}

// replyPlace is the value of the reply header that marks a PlaceReply.
const replyPlace = "place"

// Place asks for a change of the places of shards. When it returns without an error, what was asked for is durable, and is
// carried out afterwards: [Client.Status] shows how far it is. When a removal returns so, embedded NATS servers have forgotten the
// node. While shard 0 has no leader, no node answers, and Place returns when ctx ends. A client of [NewLocal] returns an error, and
// so does one over HTTP.
func (c *Client) Place(ctx context.Context, q PlaceRequest) (reply PlaceReply, err error) {
	to := nodeCall{what: "a change of places", kind: replyPlace, shard: 0, subject: c.opts.Prefix + ".cluster.place"}
	if err := c.askNode(ctx, to, q, &reply); err != nil {
		return reply, err
	}
	return reply, nodeRefusal(reply.Code, reply.Error)
}
