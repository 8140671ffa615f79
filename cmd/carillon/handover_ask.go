package main

import (
	"context"
	"errors"
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

// untilTaken asks until a leader takes the request, or the named node leads, which may come about by itself: then From of the reply
// is empty. It asks again whatever is refused only for the moment, and returns the last refusal when ctx ends.
func (a asking) untilTaken(ctx context.Context, m handoverOf) (reply client.HandoverReply, err error) {
	err = untilTaken(ctx, func() error {
		s, err := a.status(ctx)
		if err != nil {
			return err
		}
		row, err := handsOver(&s, m)
		if err == nil && row != nil && m.to != "" && row.Leader == m.to {
			reply = client.HandoverReply{To: m.to}
			return nil
		}
		if err == nil {
			reply, err = a.ask(ctx, m)
		}
		return err
	})
	return reply, err
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
