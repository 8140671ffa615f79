package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// handoverCmd lets another node lead.
type handoverCmd struct {
	To    string `help:"Name of the standby that is to lead; the one that is furthest if left out." placeholder:"NODE"`
	Shard uint32 `help:"Number of the shard." default:"0"`
	remoteFlags
	outputFlag
}

// Help is what `carillon handover --help` says besides the flags.
func (*handoverCmd) Help() string {
	return `The leader stops, and a standby that is level with it leads in its place, without a tick being late. Stop a leader with a signal, and it does the same.

Examples:

  carillon handover --server nats://nats.example.com:4222
  carillon handover --to b`
}

// handedOver is what the command tells.
type handedOver struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Epoch  uint64  `json:"epoch"`
	TookMS float64 `json:"took_ms"`
}

// handoverPoll is the time between two looks whether the other leads.
const handoverPoll = 10 * time.Millisecond

// Run implements the command.
func (c *handoverCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
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
		s, err := r.Status(ctx)
		if err == nil && s.Cluster != nil && s.Cluster.Node != reply.From && s.Role == "leader" {
			done := handedOver{reply.From, s.Cluster.Node, s.Epoch, float64(time.Since(begun).Microseconds()) / 1000}
			if c.isDocument() {
				return c.print(con, done)
			}
			_, err = fmt.Fprintf(con.out, "%s leads in the place of %s, after %s, in epoch %d\n", done.To, done.From, showMillis(done.TookMS), done.Epoch)
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s has stopped leading for %s, and nobody leads yet", reply.From, reply.To), err)
		case <-time.After(handoverPoll):
		}
	}
}
