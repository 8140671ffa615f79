package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
)

// handoverCmd transfers leadership to another node.
type handoverCmd struct {
	To    string  `help:"Name of the standby that is to lead; the most advanced one if left out." placeholder:"NODE" complete:"@nodes"`
	From  string  `help:"Of several shards, hand over those that this node leads; left out: those of the node that leads shard 0." placeholder:"NODE" complete:"@nodes"`
	Shard *uint32 `help:"Of several shards, hand over only the one of this number." placeholder:"N" complete:"@shards"`
	remoteFlags
	outputFlag
}

// Help is what `carillon handover --help` says besides the flags.
func (*handoverCmd) Help() string {
	return `The leader stops leading, and a standby that has caught up with it leads instead, without a late tick. A leader that is stopped by a signal does the same.
While the log acknowledges no commits, as during an election of NATS, the leader goes on leading, and the command asks again until --timeout is over. It does so too while the standby catches up, a shard has no leader, or another hand-over is under way.

In a cluster of several shards a node hands over all that it leads, one after the other: --from names the node. If one fails, those before it stay with their new leaders. To move one shard: carillon shard move.

Examples:

  carillon handover --server nats://nats.example.com:4222
  carillon handover --to b
  carillon handover --from a                  of several shards: a leads none afterwards`
}

// Run implements the command.
func (c *handoverCmd) Run(ctx context.Context, con *console) error {
	if c.From != "" && c.Shard != nil {
		return usagef("--from is about all shards of a node, and --shard about one: give one of the two")
	}
	r, err := c.connectOverAll(ctx, c.by())
	if err != nil {
		return err
	}
	defer r.close()
	moves, err := c.awaitMoves(ctx, r.Status)
	if err != nil {
		return err
	}
	return r.handOverAll(ctx, con, &c.outputFlag, time.Duration(c.Timeout), moves)
}

// awaitMoves returns what is to be handed over, once all of it can be as far as the status shows, and an error if any of it cannot
// within the timeout of the command.
func (c *handoverCmd) awaitMoves(ctx context.Context, status func(context.Context) (client.Status, error)) (moves []handoverOf, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Timeout))
	defer cancel()
	err = untilTaken(ctx, func() error {
		s, err := status(ctx)
		if err == nil {
			moves, err = c.moves(&s)
		}
		return err
	})
	return moves, err
}

// moves returns what is to be handed over. It returns an error if any of it cannot be, as far as the status shows, so that
// then none is: those that stay, or else those that pass by themselves.
func (c *handoverCmd) moves(s *client.Status) (moves []handoverOf, err error) {
	if c.Shard != nil {
		row, err := shardIn(s, *c.Shard)
		if err == nil && c.To != "" {
			err = canLead(row, c.To)
		}
		return []handoverOf{{shard: *c.Shard, to: c.To, several: len(s.Shards) > 0}}, err
	}
	if len(s.Shards) == 0 && c.From == "" {
		if row := shardsOf(s)[0]; s.Cluster != nil && c.To != "" {
			err = canLead(&row, c.To)
		}
		return []handoverOf{{shard: s.Shard, to: c.To}}, err
	}
	rows := shardsOf(s)
	from := c.From
	if from == "" {
		from = rows[0].Leader
	}
	var stay error
	for i := range rows {
		if row := &rows[i]; row.HasLeader && row.Leader == from {
			moves = append(moves, handoverOf{shard: row.Shard, to: c.To, several: len(s.Shards) > 0})
			if c.To != "" {
				refused := canLead(row, c.To)
				err, stay = errors.Join(err, refused), errors.Join(stay, stays(refused))
			}
		}
	}
	switch {
	case from == "":
		return nil, notNow("shard 0 has no leader that answers; name the node that is to hand over its shards with --from")
	case len(moves) == 0:
		if s.Cluster != nil {
			err = isNode(s, from)
		}
		return nil, cmp.Or(err, fmt.Errorf("node %s leads no shard", from))
	case stay != nil:
		return nil, stay
	}
	return moves, err
}

// handoverOf is one shard that is to be handed over.
type handoverOf struct {
	shard   uint32
	to      string // "": the most advanced standby
	several bool   // the cluster has several shards
}

// handedOver is the JSON of the command, a document for each shard. took_ms counts from the request of the command to the
// first status of another leader, so it includes up to a poll.
type handedOver struct {
	Shard  uint32  `json:"shard"`
	From   string  `json:"from"` // "": the node led by itself before a request was taken, as after a hand-over of the cluster's own
	To     string  `json:"to"`
	Epoch  uint64  `json:"epoch"`
	TookMS float64 `json:"took_ms"`
}

// handOverAll hands shards over, each within a time, and prints each once its new leader leads. The first failure ends it.
func (r *remote) handOverAll(ctx context.Context, con *console, form *outputFlag, most time.Duration, moves []handoverOf) error {
	for _, m := range moves {
		done, err := r.handOver(ctx, m, most)
		if err != nil && m.several {
			return fmt.Errorf("shard %d: %w", m.shard, err)
		}
		if err != nil {
			return err
		}
		if form.isDocument() {
			if err := form.print(con, done); err != nil {
				return err
			}
			continue
		}
		if done.From == "" {
			con.printf("%s leads shard %d, in epoch %d\n", done.To, done.Shard, done.Epoch)
			continue
		}
		what := ""
		if m.several {
			what = fmt.Sprintf(" shard %d", m.shard)
		}
		con.printf("%s leads%s in the place of %s, after %s, in epoch %d\n", done.To, markup(what), done.From, showMillis(done.TookMS), done.Epoch)
	}
	return nil
}

// handoverPoll is the time between two checks whether the other node leads. A handover takes about a tenth of a
// second, which the command measures.
const handoverPoll = 10 * time.Millisecond

// handOver hands one shard over, and waits until another node leads it.
func (r *remote) handOver(ctx context.Context, m handoverOf, most time.Duration) (done handedOver, err error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	begun := time.Now()
	asks := asking{r.Status, r.Handover}
	t, err := asks.untilTaken(ctx, m)
	if err != nil {
		return done, err
	}
	node, epoch, err := asks.untilLed(ctx, m.shard, t)
	return handedOver{m.shard, t.From, node, epoch, float64(time.Since(begun).Microseconds()) / 1000}, err
}

// notYetLed says that a node has handed over, and that no other one leads yet. What the status said last is its cause, and not
// part of its text: that of a request which found no leader is that nothing was done.
type notYetLed struct {
	client.HandoverReply
	cause error
}

func (e *notYetLed) Error() string {
	return fmt.Sprintf("%s has stopped leading for %s, and no node leads yet; see carillon status", e.From, e.To)
}

func (e *notYetLed) Unwrap() error { return e.cause }

// leaderOf returns the leader of a shard that has answered. The old leader may still answer for a moment, and then as a leader.
func leaderOf(s *client.Status, shard uint32) (node string, epoch uint64, ok bool) {
	if int(shard) < len(s.Shards) {
		row := &s.Shards[shard]
		return row.Leader, row.Epoch, row.HasLeader
	}
	if s.Cluster == nil || s.Role != "leader" {
		return "", 0, false
	}
	return s.Cluster.Node, s.Epoch, true
}
