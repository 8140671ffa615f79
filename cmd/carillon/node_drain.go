package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
)

// nodeDrainCmd empties a node of a cluster of several shards.
type nodeDrainCmd struct {
	Node   string `arg:"" help:"Name of the node." complete:"@nodes"`
	Cancel bool   `help:"Let a node that drains have its share again."`
	Wait   span   `help:"How long to wait until the node is empty; 0s returns when it is to become so, and the cluster goes on by itself." default:"30m" placeholder:"DURATION"`
	remoteFlags
	outputFlag
}

// Help is what `carillon node drain --help` says besides the flags.
func (*nodeDrainCmd) Help() string {
	return `Other nodes receive copies of the shards that the node holds, one after the other, and lead those that it leads. Nothing is late, no job changes, and no shard has fewer copies meanwhile. In the end the node leads nothing and holds only the first shard, of which every node has a copy: stop its process, and take its name out with 'carillon node remove'. The node stays empty until then, also over a restart; --cancel gives it its share back.

The command is refused if the other nodes cannot hold all copies: add a node before. While that, or the drain itself, waits only for nodes that have just come, it asks again, for up to --timeout.

Examples:

  carillon node drain c
  carillon node drain c --cancel`
}

// nodeDone is the JSON of the commands that change the places of nodes.
type nodeDone struct {
	Node string `json:"node"`
	Verb string `json:"verb"` // drain, keep or remove
	// TookMS is the time until a node that drains was empty; 0 if the command has not waited.
	TookMS float64 `json:"took_ms,omitempty"`
	// Pending is what NATS has still to do after a removal before the next node may die; "" if nothing.
	Pending string `json:"pending,omitempty"`
}

// Run implements the command.
func (c *nodeDrainCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connectOverAll(ctx, c.by())
	if err != nil {
		return err
	}
	defer r.close()
	verb := client.PlaceDrain
	if c.Cancel {
		verb = client.PlaceKeep
	}
	begun := time.Now()
	if _, err := r.place(ctx, time.Duration(c.Timeout), client.PlaceRequest{Verb: verb, Node: c.Node}); err != nil {
		return err
	}
	done := nodeDone{Node: c.Node, Verb: verb}
	if !c.Cancel && c.Wait > 0 {
		if err := r.awaitEmpty(ctx, con, c.Node, time.Duration(c.Wait)); err != nil {
			return err
		}
		done.TookMS = float64(time.Since(begun).Microseconds()) / 1000
	}
	switch {
	case c.isDocument():
		return c.print(con, done)
	case c.Cancel:
		con.printf("node %s gets its share of the shards again\n", c.Node)
	case c.Wait > 0:
		con.printf("node %s leads nothing and holds only the first shard, after %s; stop it, and then: carillon node remove %s\n", c.Node, showMillis(done.TookMS), c.Node)
	default:
		con.printf("node %s is to become empty; 'carillon node list' shows how far it is\n", c.Node)
	}
	return nil
}

// nodeRemoveCmd takes a node out of a cluster.
type nodeRemoveCmd struct {
	Node string `arg:"" help:"Name of the node." complete:"@nodes"`
	remoteFlags
	outputFlag
}

// Help is what `carillon node remove --help` says besides the flags.
func (*nodeRemoveCmd) Help() string {
	return `For a node that has ended and does not come back: drained before, or lost. Other nodes receive copies of the shards that it held. With embedded NATS servers NATS forgets the node too, which would be a missing vote of NATS otherwise, and the command ends when it has; if it fails, ask again. It is refused if the node is there, and if it has the only copy of a shard, or the only one that may be whole. While another node is about to lead such a shard, and while a node that drains, or one of a cluster of one shard, is still heard, as for a second after its end, it asks again, for up to --timeout.

Examples:

  carillon node remove c`
}

// Run implements the command.
func (c *nodeRemoveCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connectOverAll(ctx, c.by())
	if err != nil {
		return err
	}
	defer r.close()
	reply, err := r.place(ctx, time.Duration(c.Timeout), client.PlaceRequest{Verb: client.PlaceRemove, Node: c.Node})
	if err != nil {
		return err
	}
	if c.isDocument() {
		return c.print(con, nodeDone{Node: c.Node, Verb: client.PlaceRemove, Pending: reply.Pending})
	}
	con.printf("node %s is out of the cluster\n", c.Node)
	if reply.Pending != "" {
		con.notef("%s\n", reply.Pending)
	}
	return nil
}

// place asks for a change of nodes or of the places of shards, within a time: again, while a node says that it may be taken later,
// as when another change has to end before.
func (r *remote) place(ctx context.Context, most time.Duration, q client.PlaceRequest) (client.PlaceReply, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return placing{r.Status, r.Place}.untilTaken(ctx, q)
}

// placing asks for a change of places, with what it needs of a client.
type placing struct {
	status func(context.Context) (client.Status, error)
	place  func(context.Context, client.PlaceRequest) (client.PlaceReply, error)
}

// untilTaken asks until the leader of shard 0 takes the request. A request that was refused for the moment may have taken effect
// all the same, or what it is for may have come about by itself meanwhile; so may a move since the status that it goes by. Then a
// later refusal is that there is nothing to change, and is none.
func (p placing) untilTaken(ctx context.Context, q client.PlaceRequest) (reply client.PlaceReply, err error) {
	again := q.Verb == client.PlaceMove
	err = untilTaken(ctx, func() error {
		s, err := p.status(ctx)
		if err == nil {
			err = hasPlaces(&s, q.Verb)
		}
		if err != nil {
			return err
		}
		reply, err = p.place(ctx, q)
		if err == nil || isRefusedForNow(err) {
			again = true
			return err
		}
		if s, failed := p.status(ctx); again && failed == nil && isPlaced(&s, q) {
			return nil
		}
		return err
	})
	return reply, err
}

// isPlaced reports whether the status shows what a request about places is for.
func isPlaced(s *client.Status, q client.PlaceRequest) bool {
	if s.Cluster == nil {
		return false
	}
	i := slices.IndexFunc(s.Cluster.Nodes, func(n client.ClusterNode) bool { return n.Node == q.Node })
	switch q.Verb {
	case client.PlaceDrain:
		return i >= 0 && s.Cluster.Nodes[i].Drains
	case client.PlaceKeep:
		return i >= 0 && !s.Cluster.Nodes[i].Drains
	case client.PlaceMove:
		row, err := shardIn(s, q.Shard)
		return err == nil && holds(row, q.To)
	}
	return i < 0 // removed
}

// hasPlaces returns an error if the cluster has no places of shards that the verb of a request could change, or no leader that
// could change them at the moment.
func hasPlaces(s *client.Status, verb string) error {
	switch {
	case s.Cluster == nil:
		return errors.New("the server is not a node of a cluster")
	case len(s.Shards) == 0 && verb == client.PlaceRemove:
		return nil
	case len(s.Shards) == 0:
		return errors.New("the cluster has one shard, of which each node has a copy: a node is added by starting it; when it has ended for good, 'carillon node remove' takes it out")
	case !s.Shards[0].HasLeader:
		return &client.Error{Code: client.CodeUnavailable, Message: "shard 0 has no leader that answers, and that one places the shards; nothing has changed, try again when it has one"}
	}
	return nil
}

// emptyPoll is the time between two looks at a node that drains.
const emptyPoll = 500 * time.Millisecond

// awaitEmpty waits until a node leads no shard and holds none but the first one, and says whenever that has come nearer.
func (r *remote) awaitEmpty(ctx context.Context, con *console, node string, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	left := -1
	for {
		s, err := r.Status(ctx)
		if err == nil {
			leads, holds := partOf(&s, node)
			if leads == 0 && holds == 0 {
				return nil
			}
			if left != leads+holds {
				left = leads + holds
				con.notef("node %s still leads %s, and holds %s\n", node, plural(leads, "shard"), plural(holds, "shard"))
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s node %s is not empty yet; the cluster goes on: see 'carillon node list'", most, node)
		case <-time.After(emptyPoll):
		}
	}
}

// partOf returns how many shards a node leads, and how many it holds besides the first one, of which every node has a copy.
func partOf(s *client.Status, node string) (leads, holds int) {
	for i := range s.Shards {
		row := &s.Shards[i]
		if row.Leader == node {
			leads++
		}
		for _, r := range row.Replicas {
			if row.Shard != 0 && r.Node == node {
				holds++
			}
		}
	}
	return leads, holds
}
