package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// asking asks the leader of a shard to hand over, with what it needs of a client.
type asking struct {
	status   func(context.Context) (client.Status, error)
	handover func(ctx context.Context, shard uint32, to string) (client.HandoverReply, error)
}

// answerMost is how long a leader has to answer a request to hand over to a node that is named: it needs up to three seconds where
// commits are slow. A node that has ceased to lead does not answer. Without a name a second request could undo the first one, so
// there is no bound.
const answerMost = 5 * time.Second

// taken is a request to hand over that a leader has taken. From is empty if the named node leads by itself.
type taken struct {
	client.HandoverReply
	epoch uint64 // of that leader, by the status before the request; 0: unknown
}

// untilTaken asks until a leader takes the request, or the named node leads, which may come about by itself. It asks again whatever
// is refused only for the moment, and returns the last refusal when ctx ends.
func (a asking) untilTaken(ctx context.Context, m handoverOf) (t taken, err error) {
	err = untilTaken(ctx, func() error {
		s, err := a.status(ctx)
		if err != nil {
			return err
		}
		row, err := handsOver(&s, m)
		if err == nil && row != nil && m.to != "" && row.Leader == m.to {
			t = taken{HandoverReply: client.HandoverReply{To: m.to}}
			return nil
		}
		if err == nil {
			t.HandoverReply, err = a.ask(ctx, m)
		}
		if t.epoch = 0; row != nil && row.Leader == t.From {
			t.epoch = row.Epoch
		}
		return err
	})
	return t, err
}

// untilLed waits until another node than the one that has handed over leads, and returns which, and in which epoch. It is an error
// if that node leads again, because the other one has died, or if none leads when ctx ends.
func (a asking) untilLed(ctx context.Context, shard uint32, t taken) (node string, epoch uint64, err error) {
	for {
		// An error is no end: between the two leaders there may be none that answers.
		s, err := a.status(ctx)
		node, epoch, ok := leaderOf(&s, shard)
		switch isLed := err == nil && ok; {
		case isLed && node != t.From:
			return node, epoch, nil
		case isLed && t.epoch > 0 && epoch > t.epoch:
			return "", 0, fmt.Errorf("%s has stopped leading for %s, which did not begin: %s leads again, in epoch %d", t.From, t.To, t.From, epoch)
		}
		select {
		case <-ctx.Done():
			return "", 0, &notYetLed{t.HandoverReply, err}
		case <-time.After(handoverPoll):
		}
	}
}

// handsOver returns the row of a shard that is to be handed over, as a status shows it, or why it cannot be. A server that is no
// node of a cluster has none, and the request to hand over shows why.
func handsOver(s *client.Status, m handoverOf) (*client.ShardStatus, error) {
	if s.Cluster == nil {
		return nil, nil
	}
	row, err := shardIn(s, m.shard)
	switch {
	case err != nil:
		return nil, err
	case row.HasLeader && (m.to == "" || row.Leader == m.to):
		return row, nil
	}
	return row, canLead(row, m.to)
}

// ask sends one request to hand over. If the leader has ended since the status, that passes: no server listens, or none answers.
func (a asking) ask(ctx context.Context, m handoverOf) (client.HandoverReply, error) {
	if m.to == "" {
		return a.handover(ctx, m.shard, m.to)
	}
	asked, cancel := context.WithTimeout(ctx, answerMost)
	defer cancel()
	reply, err := a.handover(asked, m.shard, m.to)
	switch {
	case err == nil, isRefusedForNow(err):
	case asked.Err() != nil && ctx.Err() == nil:
		err = notNow("the leader of shard %d has not answered the request to hand over", m.shard)
	case errors.Is(err, nats.ErrNoResponders):
		if s, failed := a.status(ctx); failed == nil {
			if row, none := shardIn(&s, m.shard); none == nil && (!row.HasLeader || row.Leader == m.to) {
				err = notNow("shard %d has no leader any more that could hand over", m.shard)
			}
		}
	}
	return reply, err
}
