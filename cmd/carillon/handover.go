package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// handoverCmd transfers leadership to another node.
type handoverCmd struct {
	To    string `help:"Name of the standby that is to lead; the most advanced one if left out." placeholder:"NODE" complete:"@nodes"`
	Shard uint32 `help:"Number of the shard." default:"0"`
	remoteFlags
	outputFlag
}

// Help is what `carillon handover --help` says besides the flags.
func (*handoverCmd) Help() string {
	return `The leader stops leading, and a standby that has caught up with it leads instead, without a late tick. A leader that is stopped by a signal does the same.
While the log acknowledges no commits, as during an election of NATS, the leader goes on leading and the command fails: try again.

Examples:

  carillon handover --server nats://nats.example.com:4222
  carillon handover --to b`
}

// handedOver is the JSON of the command. took_ms counts from the request of the command to the first status of
// another leader, so it includes up to a poll.
type handedOver struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Epoch  uint64  `json:"epoch"`
	TookMS float64 `json:"took_ms"`
}

// handoverPoll is the time between two checks whether the other node leads. A handover takes about a tenth of a
// second, which the command measures.
const handoverPoll = 10 * time.Millisecond

// Run implements the command.
func (c *handoverCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connectOverAll(ctx, c.by())
	if err != nil {
		return err
	}
	defer r.close()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Timeout))
	defer cancel()
	begun := time.Now()
	reply, err := r.Handover(ctx, c.Shard, c.To)
	if err != nil {
		return err
	}
	for {
		// An error is no end: between the two leaders there may be none that answers.
		s, err := r.Status(ctx)
		// The old leader may still answer for a moment, and then as a leader; only another node counts.
		if err == nil && s.Cluster != nil && s.Cluster.Node != reply.From && s.Role == "leader" {
			done := handedOver{reply.From, s.Cluster.Node, s.Epoch, float64(time.Since(begun).Microseconds()) / 1000}
			if c.isDocument() {
				return c.print(con, done)
			}
			out := con.buffered()
			out.printf("%s leads in the place of %s, after %s, in epoch %d\n", done.To, done.From, showMillis(done.TookMS), done.Epoch)
			return out.flush()
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s has stopped leading for %s, and no node leads yet", reply.From, reply.To), err)
		case <-time.After(handoverPoll):
		}
	}
}
